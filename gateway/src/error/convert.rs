//! Failures of the crates below, as outsiders are told of them.

use oxagen_commands::{Code, CommandError};
use oxagen_jetstream::JetStreamError;
use oxagen_journal::{AppendError, JournalError};
use oxagen_projections::QueryError;
use serde_json::Value;

use super::kind::*;
use super::{Kind, Problem, RETRY_AFTER};

fn kind_of(code: Code) -> &'static Kind {
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
        Code::PlanClosed => PLAN_CLOSED,
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
        let append = cause.as_ref().and_then(|cause| cause.downcast_ref::<AppendError>());
        if append.is_some_and(AppendError::may_have_happened) {
            let mut problem = Self::outcome_unknown("the journal stopped answering during the commit");
            problem.cause = cause;
            return problem;
        }
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
            return Self::unavailable("the journal does not answer now: try again in a moment")
                .because(error);
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

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use http::{StatusCode, header};
    use serde_json::json;

    use super::*;

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
