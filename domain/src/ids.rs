//! Typed identifiers: one type per kind, so that a call's id can never be passed for a turn's.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Namespace of every identifier that is derived from its cause (UUID version 5).
const DERIVED: Uuid = Uuid::from_u128(0x6f78_6167_656e_5a00_8000_0000_0000_0001);

/// Derives the identifier of what `cause` creates at `position`: the same cause and position always give
/// the same identifier, so that a repeated command meets what exists instead of creating it again.
pub fn derive(cause: Uuid, position: &str) -> Uuid {
    let mut name = cause.as_bytes().to_vec();
    name.extend_from_slice(position.as_bytes());
    Uuid::new_v5(&DERIVED, &name)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The identifier that `cause` gives to what it creates at `position`.
            pub fn derived(cause: Uuid, position: &str) -> Self {
                Self(derive(cause, position))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self(Uuid::nil())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::from_str(text).map(Self)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
    )+};
}

ids! {
    /// A customer; nothing crosses from one tenant to another.
    TenantId
    /// A part of a tenant with its own conversations, keys and policy.
    WorkspaceId
    /// A person or service that a credential stands for.
    UserId
    /// An API key.
    ApiKeyId
    /// An agent.
    AgentId
    /// One immutable version of an agent.
    AgentVersionId
    /// A conversation.
    ConversationId
    /// A message of a conversation.
    MessageId
    /// A turn: one user message to its end.
    TurnId
    /// The record of a turn, or of a call outside a turn, as it runs.
    ExecutionId
    /// One step of an execution: a model call, or a direct tool call.
    StepId
    /// A tool call.
    CallId
    /// An approval.
    ApprovalId
    /// A plan that an agent puts to a person.
    PlanId
    /// An answer to an approval that stands for later calls.
    StandingApprovalId
    /// One immutable version of a tool.
    ToolVersionId
    /// A process that advances turns.
    RunnerId
}

impl ExecutionId {
    /// The execution of a turn has the turn's own identifier.
    pub fn of_turn(turn: TurnId) -> Self {
        Self(turn.0)
    }

    /// The execution of kind `direct` that a call outside a turn belongs to.
    pub fn of_direct_call(call: CallId) -> Self {
        Self::derived(call.0, "execution")
    }
}

impl StepId {
    /// The step with this number (from 1) of an execution.
    pub fn of(execution: ExecutionId, step: u32) -> Self {
        Self::derived(execution.0, &format!("step/{step}"))
    }
}

impl CallId {
    /// The call at `index` (from 0) in step `step` (from 1) of a turn. Attempts of a step share it.
    pub fn of_step(turn: TurnId, step: u32, index: usize) -> Self {
        Self::derived(turn.0, &format!("call/{step}/{index}"))
    }
}

impl PlanId {
    /// The plan that a call of the plan tool makes.
    pub fn of_call(call: CallId) -> Self {
        Self::derived(call.0, "plan")
    }
}

impl StandingApprovalId {
    /// What remembers the answer to an approval.
    pub fn of_approval(approval: ApprovalId) -> Self {
        Self::derived(approval.0, "standing")
    }
}

impl ApprovalId {
    /// The approval that a held call asks for.
    pub fn of_call(call: CallId) -> Self {
        Self::derived(call.0, "approval")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_repeat_and_differ_by_position() {
        let turn = TurnId(Uuid::from_u128(7));
        assert_eq!(CallId::of_step(turn, 1, 0), CallId::of_step(turn, 1, 0));
        assert_ne!(CallId::of_step(turn, 1, 0), CallId::of_step(turn, 1, 1));
        assert_ne!(CallId::of_step(turn, 1, 0), CallId::of_step(turn, 2, 0));
    }
}
