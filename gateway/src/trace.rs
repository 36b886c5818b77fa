//! A name for every request, a span around it, and a count of it.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::time::timeout;
use tracing::{Instrument, debug, field, info, info_span};
use uuid::Uuid;

use crate::error::Problem;
use crate::state::App;

/// What a route that nobody has is counted under.
const NO_ROUTE: &str = "none";

/// The request's own name: in its span, in the answer's `X-Request-Id`, and as the cause of what it leads to. It is
/// always made here: what is derived from it must not repeat because a client repeats itself.
#[derive(Clone, Copy)]
pub(crate) struct RequestId(pub(crate) Uuid);

/// Names, times and counts a request, and bounds its wait.
pub(crate) async fn around(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (began, id) = (Instant::now(), RequestId(Uuid::now_v7()));
    request.extensions_mut().insert(id);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, |path| path.as_str()).to_owned();
    let span = info_span!(
        "request", %method, route, id = %id.0, workspace = field::Empty, user = field::Empty, status = field::Empty
    );
    let limit = app.options().timeout + prefer_wait(request.headers()).unwrap_or_default();
    let answer = async {
        match timeout(limit, next.run(request)).await {
            Ok(response) => response,
            Err(_) if method.is_safe() => Problem::timeout().into_response(),
            Err(_) => Problem::outcome_unknown("it took longer than the gateway waits").into_response(),
        }
    };
    let mut response = answer.instrument(span.clone()).await;
    let status = response.status().as_u16();
    span.record("status", status);
    app.metrics().answered(method.as_str(), &route, status, began.elapsed());
    span.in_scope(|| match response.status() {
        // Who tried what is not theirs leaves a trace.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => info!(path, "refused"),
        _ => debug!(took = ?began.elapsed(), "answered"),
    });
    if let Ok(value) = HeaderValue::from_str(&id.0.to_string()) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), value);
    }
    response.headers_mut().insert(http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The longest wait that a client may ask for.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// How long a client would wait for the end of what it asks for (`Prefer: wait=N`, RFC 7240).
pub(crate) fn prefer_wait(headers: &http::HeaderMap) -> Option<Duration> {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let wait = values.flat_map(|value| value.split(',')).find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then_some(value.trim().trim_matches('"'))
    })?;
    wait.parse().ok().map(|seconds| Duration::from_secs(seconds).min(WAIT_LIMIT))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn wait(value: &'static str) -> Option<u64> {
        let headers =
            HeaderMap::from_iter([(HeaderName::from_static("prefer"), HeaderValue::from_static(value))]);
        prefer_wait(&headers).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_found_among_other_preferences_and_bounded() {
        assert_eq!(wait("wait=5"), Some(5));
        assert_eq!(wait("respond-async, Wait = 10"), Some(10));
        assert_eq!(wait("wait=3600"), Some(60));
        assert_eq!(wait("wait=soon"), None);
        assert_eq!(wait("return=minimal"), None);
    }
}
