//! Who calls: the door's guard proves key, right and limits before a route sees the request.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, header};
use oxagen_commands::Caller;
use oxagen_domain::Right;
use tracing::{Span, warn};
use uuid::Uuid;

use crate::error::Problem;
use crate::extract::{IdempotencyKey, only_known};
use crate::state::App;
use crate::trace::RequestId;

/// What a key may do whatever it is limited to: learn what it is, and ask for a call, which is judged by what it calls.
const FOR_EVERY_KEY: [&str; 2] = ["me.read", "tool_call.request"];

/// The caller of this request.
pub(crate) struct Who(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Caller>().cloned().map(Self).ok_or_else(missing)
    }
}

/// What a door asks of a request before a route sees it.
#[derive(Clone)]
pub(crate) struct Asks {
    pub(crate) app: App,
    pub(crate) right: Right,
    /// What happens at it.
    pub(crate) operation: &'static str,
    /// The parameters that it takes after the `?`.
    pub(crate) parameters: Arc<[&'static str]>,
}

/// Lets a request through a door that needs a right.
pub(crate) async fn admit(
    State(Asks { app, right, operation, parameters }): State<Asks>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let id = request.extensions().get::<RequestId>().map_or_else(Uuid::now_v7, |id| id.0);
    let caller = prove(&app, request.headers(), id).await?;
    let span = Span::current();
    span.record("workspace", tracing::field::display(caller.scope.workspace));
    span.record("user", tracing::field::display(caller.user));
    // Whether a question exists for this caller at all comes before whether they may answer it, so the command
    // itself asks for the right to decide: what is not theirs is 404, what they may not answer 403.
    if right != Right::Decide
        && let Err(refusal) = caller.must(right)
    {
        warn!(right = right.name(), "refused: the role or the key lacks the right");
        return Err(refusal.into());
    }
    if !FOR_EVERY_KEY.contains(&operation)
        && let Err(refusal) = caller.must_reach(operation)
    {
        warn!(operation, "refused: the key is limited to other operations");
        return Err(refusal.into());
    }
    let slot = app.limiter().request(&caller)?;
    only_known(request.uri(), &parameters)?;
    let key = IdempotencyKey::read(request.headers())?;
    request.extensions_mut().insert(key);
    request.extensions_mut().insert(caller);
    let response = next.run(request).await;
    drop(slot);
    Ok(response)
}

async fn prove(app: &App, headers: &HeaderMap, request: Uuid) -> Result<Caller, Problem> {
    let text = bearer(headers).ok_or_else(missing)?;
    let Some(caller) = app.keys().caller(app, text).await? else {
        return Err(Problem::unauthorized(
            "this key opens nothing: it is no key, or it was revoked; ask an owner of the workspace for a new one",
        ));
    };
    Ok(Caller { request, traceparent: traceparent(headers), ..caller })
}

fn missing() -> Problem {
    Problem::unauthorized("send a key: `Authorization: Bearer oxk_…`")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, text) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(text.trim()).filter(|text| !text.is_empty())
}

/// The W3C trace context, if it is one.
fn traceparent(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let parts: Vec<_> = text.split('-').collect();
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let [version, trace, span, flags] = parts.as_slice() else { return None };
    let filled = |part: &str| part.bytes().any(|b| b != b'0');
    (hex(version, 2) && hex(trace, 32) && hex(span, 16) && hex(flags, 2) && filled(trace) && filled(span))
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(http::HeaderName::from_static(name), HeaderValue::from_static(value))])
    }

    #[test]
    fn only_a_bearer_with_a_text_counts() {
        assert_eq!(bearer(&headers("authorization", "bearer oxk_1")), Some("oxk_1"));
        assert_eq!(bearer(&headers("authorization", "Basic oxk_1")), None);
        assert_eq!(bearer(&headers("authorization", "Bearer ")), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn a_broken_trace_context_is_left_out() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(traceparent(&headers("traceparent", good)), Some(good.to_owned()));
        let none = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        assert_eq!(traceparent(&headers("traceparent", none)), None);
        assert_eq!(traceparent(&headers("traceparent", "hello")), None);
    }
}
