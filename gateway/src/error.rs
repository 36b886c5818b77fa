//! Refusals as outsiders see them: problem+json (RFC 9457) with a stable code, the field, and what to do.
//!
//! Nothing else in this crate knows which HTTP status goes with which failure.

mod convert;
mod kind;

use std::error::Error;

use axum::response::{AppendHeaders, IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use oxagen_domain::capability::Flaw;
use serde_json::{Map, Value, json};
use tracing::{error, warn};

pub(crate) use kind::*;
pub use kind::{KINDS, Kind};

/// The content type of every refusal.
pub(crate) const CONTENT_TYPE: &str = "application/problem+json";
/// Seconds after which a client may try again when a server does not answer.
const RETRY_AFTER: u64 = 2;

/// A refusal on its way to a client.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: &'static Kind,
    detail: String,
    flaws: Vec<Flaw>,
    more: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Problem {
    /// A refusal; `detail` says what was wrong here and what to do.
    pub(crate) fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        let (flaws, more, headers) = (Vec::new(), Map::new(), Vec::new());
        Self { kind, detail: detail.into(), flaws, more, headers, cause: None }
    }

    /// There is no such thing in the caller's workspace.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(
            NOT_FOUND,
            format!(
                "there is no such {what} in this workspace: check its id, and the workspace that the key opens (GET /v1/me)"
            ),
        )
    }

    /// One value of the input does not fit. `pointer` is a JSON pointer, or the name of a parameter or header.
    pub(crate) fn invalid(pointer: &str, expected: impl Into<String>) -> Self {
        let expected = expected.into();
        let detail = if pointer.is_empty() { expected.clone() } else { format!("{pointer}: {expected}") };
        Self::new(INVALID_INPUT, detail).with_flaws(vec![Flaw::new(pointer, expected)])
    }

    /// A key is missing or opens nothing.
    pub(crate) fn unauthorized(detail: &str) -> Self {
        Self::new(UNAUTHORIZED, detail)
            .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"oxagen\""))
    }

    /// With what does not fit.
    #[must_use]
    pub(crate) fn with_flaws(mut self, flaws: Vec<Flaw>) -> Self {
        self.flaws = flaws;
        self
    }

    /// With a header.
    #[must_use]
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// With the seconds after which it may be tried again.
    #[must_use]
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// With its inner cause, which goes to the log and never to the client.
    #[must_use]
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The stable code.
    #[cfg(test)]
    pub(crate) fn code(&self) -> &'static str {
        self.kind.code
    }

    /// The body. Extra members never replace the standard ones.
    pub(crate) fn body(&self) -> Value {
        let mut body = self.more.clone();
        let standard = json!({
            "type": format!("/docs/errors/{}", self.kind.code),
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "code": self.kind.code,
        });
        if let Value::Object(standard) = standard {
            body.extend(standard);
        }
        if let Some(first) = self.flaws.first() {
            body.insert("field".to_owned(), json!(first.pointer));
            body.insert("flaws".to_owned(), json!(self.flaws));
        }
        Value::Object(body)
    }
}

impl Problem {
    /// The one place where the chain of causes is logged.
    fn log(&self) {
        let chain = self.cause.as_deref().map(chain).unwrap_or_default();
        if self.kind == INTERNAL {
            error!(code = self.kind.code, detail = self.detail, chain, "request failed");
        } else if self.kind.status >= 500 {
            warn!(code = self.kind.code, detail = self.detail, chain, "request failed");
        }
    }

    /// The body, for a stream that ends with it.
    pub(crate) fn into_logged_body(self) -> Value {
        self.log();
        self.body()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.log();
        let status = StatusCode::from_u16(self.kind.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let body = self.body().to_string();
        (status, AppendHeaders(self.headers), [content_type, no_store], body).into_response()
    }
}

fn chain(cause: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(inner) = next {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        next = inner.source();
    }
    text
}

impl Problem {
    /// A server that is needed does not answer.
    pub(crate) fn unavailable(detail: &str) -> Self {
        Self::new(UNAVAILABLE, detail).retry_after(RETRY_AFTER)
    }

    /// Reading took longer than the gateway waits.
    pub(crate) fn timeout() -> Self {
        Self::new(TIMEOUT, "it took longer than the gateway waits: try again in a moment")
            .retry_after(RETRY_AFTER)
    }

    /// It may have been done, or not.
    pub(crate) fn outcome_unknown(why: &str) -> Self {
        let text = format!(
            "{why}, so it may have been done or not: send it again with the same Idempotency-Key, or look first"
        );
        Self::new(OUTCOME_UNKNOWN, text).retry_after(RETRY_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_is_named_by_its_pointer() {
        let body = Problem::invalid("/text", "1 to 100000 characters").body();
        assert_eq!(body["type"], "/docs/errors/invalid_input");
        assert_eq!(body["status"], 422);
        assert_eq!(body["field"], "/text");
        assert_eq!(body["flaws"][0]["expected"], "1 to 100000 characters");
    }
}
