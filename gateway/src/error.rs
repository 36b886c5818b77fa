//! Refusals as outsiders see them: problem+json (RFC 9457) with a stable code, the field, and what to do.
//!
//! Nothing else in this crate knows which HTTP status goes with which failure.

mod kind;

use std::error::Error;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use oxagen_commands::{Code, CommandError};
use oxagen_domain::capability::Flaw;
use oxagen_jetstream::JetStreamError;
use oxagen_journal::JournalError;
use oxagen_projections::QueryError;
use serde_json::{Map, Value, json};
use tracing::{error, warn};

pub use kind::{KINDS, Kind, find};
pub(crate) use kind::*;

/// The content type of every refusal.
pub(crate) const CONTENT_TYPE: &str = "application/problem+json";
/// Seconds after which a client may try again when a server does not answer.
const RETRY_AFTER: u64 = 2;

/// A refusal on its way to a client.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: Kind,
    detail: String,
    flaws: Vec<Flaw>,
    more: Map<String, Value>,
    headers: HeaderMap,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Problem {
    /// A refusal; `detail` says what was wrong here and what to do.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (flaws, more, headers) = (Vec::new(), Map::new(), HeaderMap::new());
        Self { kind, detail: detail.into(), flaws, more, headers, cause: None }
    }

    /// There is no such thing in the caller's workspace.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(NOT_FOUND, format!("there is no such {what} in this workspace"))
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
        self.headers.insert(name, value);
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
        (status, self.headers.clone(), [content_type, no_store], self.body().to_string()).into_response()
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

fn kind_of(code: Code) -> Kind {
    match code {
        Code::InvalidInput => INVALID_INPUT,
        Code::NotFound => NOT_FOUND,
        Code::Forbidden => FORBIDDEN,
        Code::Conflict => CONFLICT,
        Code::ConversationBusy => CONVERSATION_BUSY,
        Code::ConversationArchived => CONVERSATION_ARCHIVED,
        Code::TurnEnded => TURN_ENDED,
        Code::CallEnded => CALL_ENDED,
        Code::ApprovalClosed => APPROVAL_CLOSED,
        Code::IdempotencyKeyReused => IDEMPOTENCY_KEY_REUSED,
        Code::UnknownCapability => UNKNOWN_CAPABILITY,
        Code::DeniedByPolicy => DENIED_BY_POLICY,
        Code::TooLarge => TOO_LARGE,
        Code::Unavailable => UNAVAILABLE,
        Code::Internal => INTERNAL,
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let CommandError { code, message, flaws, detail, cause, .. } = error;
        let mut problem = Self::new(kind_of(code), message).with_flaws(flaws);
        if let Some(Value::Object(more)) = detail {
            problem.more = more;
        }
        problem.cause = cause;
        if code == Code::Unavailable { problem.retry_after(RETRY_AFTER) } else { problem }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        if error.is_transient() {
            return Self::unavailable("the journal does not answer now: try again in a moment").because(error);
        }
        Self::new(INTERNAL, "the journal refused what this build asked of it").because(error)
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        let text = error.to_string();
        match error {
            QueryError::BadCursor => Self::invalid("cursor", text),
            QueryError::BadLimit { .. } => Self::invalid("limit", text),
            QueryError::Unavailable { .. } => {
                Self::unavailable("the read models do not answer now: try again in a moment").because(error)
            }
            QueryError::Database { .. } => {
                Self::new(INTERNAL, "the read models refused what this build asked of them").because(error)
            }
        }
    }
}

impl From<JetStreamError> for Problem {
    fn from(error: JetStreamError) -> Self {
        Self::unavailable("the message bus does not answer now: try again in a moment").because(error)
    }
}

impl Problem {
    /// A server that is needed does not answer.
    pub(crate) fn unavailable(detail: &str) -> Self {
        Self::new(UNAVAILABLE, detail).retry_after(RETRY_AFTER)
    }

    /// It took longer than the gateway waits.
    pub(crate) fn timeout() -> Self {
        Self::new(TIMEOUT, "it took longer than the gateway waits; whether it happened is unknown: look, or repeat it \
             with the same Idempotency-Key")
            .retry_after(RETRY_AFTER)
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

    #[test]
    fn what_the_command_adds_is_at_the_top_level_and_replaces_nothing() {
        let mut error = CommandError::new(Code::ApprovalClosed, "closed");
        error.detail = Some(json!({"resolution": "denied", "status": "forged"}));
        let body = Problem::from(error).body();
        assert_eq!(body["resolution"], "denied");
        assert_eq!(body["status"], 409);
    }

    #[test]
    fn an_unavailable_server_says_when_to_try_again() {
        let response = Problem::from(CommandError::new(Code::Unavailable, "no answer")).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(response.headers().contains_key(header::RETRY_AFTER));
    }
}
