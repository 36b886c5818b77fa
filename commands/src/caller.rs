//! Who calls: proven by a credential, never by a body.

use chrono::Utc;
use oxagen_domain::{
    Actor, ActorKind, ApiKeyId, ConversationId, KeyLimits, Metadata, Right, Role, Scope, TurnId, UserId,
};
use uuid::Uuid;

use crate::context::Context;
use crate::error::{Code, CommandError};

/// A caller, as its credential proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The workspace that the credential opens.
    pub scope: Scope,
    /// Whom it stands for.
    pub user: UserId,
    /// What they may do.
    pub role: Role,
    /// What of that the key is limited to.
    pub limits: KeyLimits,
    /// The key, when the credential is one.
    pub key: Option<ApiKeyId>,
    /// The request: cause of all that follows from it.
    pub request: Uuid,
    /// W3C trace context of the request.
    pub traceparent: Option<String>,
}

impl Caller {
    /// Refuses a caller whose role or key lacks this right.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub fn must(&self, right: Right) -> Result<(), CommandError> {
        if !self.role.may(right) {
            let (role, verb) = (self.role.name(), verb(right));
            let text = format!(
                "the role `{role}` lacks the right to {verb}: ask an owner for a key with another role"
            );
            return Err(CommandError::new(Code::Forbidden, text));
        }
        if !self.limits.may(right) {
            return Err(limited(&format!("has no right to `{}`", right.name())));
        }
        Ok(())
    }

    /// Refuses a caller whose key is limited to other operations.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub fn must_reach(&self, operation: &str) -> Result<(), CommandError> {
        if self.limits.reaches(operation) {
            Ok(())
        } else {
            Err(limited(&format!("does not reach {operation}")))
        }
    }

    /// What the events of this request carry.
    pub(crate) fn context(&self, conversation: Option<ConversationId>, turn: Option<TurnId>) -> Context {
        Context(Metadata {
            scope: self.scope,
            conversation,
            turn,
            actor: Actor { kind: ActorKind::User, id: self.user.to_string() },
            causation: self.request,
            correlation: self.request,
            traceparent: Some(self.traceparent.clone().unwrap_or_else(|| trace_of(self.request))),
            occurred_at: Utc::now(),
        })
    }
}

/// A trace of its own for a request that came without one.
fn trace_of(request: Uuid) -> String {
    let trace = request.simple().to_string();
    format!("00-{trace}-{}-01", &trace[16..])
}

fn limited(what: &str) -> CommandError {
    let text = format!(
        "this key is limited, and {what}: use another key, or ask an owner or admin for one (GET /v1/me tells its limits)"
    );
    CommandError::new(Code::Forbidden, text)
}

fn verb(right: Right) -> &'static str {
    match right {
        Right::Read => "read",
        Right::Act => "start or change anything",
        Right::Decide => "answer approvals",
        Right::Administer => "manage keys and agents",
    }
}
