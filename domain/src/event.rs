//! Every event of every aggregate, for those who read history across aggregates.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::agent::AgentEvent;
use crate::api_key::ApiKeyEvent;
use crate::approval::ApprovalEvent;
use crate::conversation::ConversationEvent;
use crate::plan::PlanEvent;
use crate::policy::PolicyEvent;
use crate::tool_call::ToolCallEvent;
use crate::turn::TurnEvent;
use crate::workspace::WorkspaceEvent;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident($event:ident)),+ $(,)?) => {
        /// An event of any aggregate.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Event {
            $($(#[$doc])* $name($event),)+
        }

        impl Event {
            /// Reads a payload of this type; `None` when this build does not know the type.
            ///
            /// # Errors
            /// When the type is known and the payload does not fit it.
            pub fn decode(kind: &str, payload: Value) -> Result<Option<Self>, serde_json::Error> {
                $(if $event::KINDS.contains(&kind) {
                    return tagged::<$event>(kind, payload).map(|event| Some(Self::$name(event)));
                })+
                Ok(None)
            }

            /// The names of all event types, aggregate by aggregate.
            pub fn kinds() -> impl Iterator<Item = &'static str> {
                [$($event::KINDS),+].into_iter().flatten().copied()
            }
        }
    };
}

events! {
    /// Of a workspace.
    Workspace(WorkspaceEvent),
    /// Of an API key.
    ApiKey(ApiKeyEvent),
    /// Of an agent.
    Agent(AgentEvent),
    /// Of a workspace's policy.
    Policy(PolicyEvent),
    /// Of a conversation.
    Conversation(ConversationEvent),
    /// Of a turn.
    Turn(TurnEvent),
    /// Of a tool call.
    ToolCall(ToolCallEvent),
    /// Of an approval.
    Approval(ApprovalEvent),
    /// Of a plan.
    Plan(PlanEvent),
}

/// Payloads travel without the tag, which the fact's type already says.
fn tagged<E: DeserializeOwned>(kind: &str, mut payload: Value) -> Result<E, serde_json::Error> {
    if let (Value::Object(fields), Some((_, tag))) = (&mut payload, kind.split_once('.')) {
        fields.insert("type".to_owned(), Value::String(tag.to_owned()));
    }
    serde_json::from_value(payload)
}
