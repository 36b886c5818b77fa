//! What can be watched.

use oxagen_domain::{CallId, ConversationId, Fact, Scope};

/// What can be watched, always inside one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// Every fact of a workspace.
    Workspace(Scope),
    /// A conversation's facts and live frames.
    Conversation(Scope, ConversationId),
    /// A tool call's facts.
    Call(Scope, CallId),
}

impl Topic {
    /// What a fact belongs to.
    pub(super) fn of_fact(fact: &Fact) -> impl Iterator<Item = Self> {
        let scope = fact.scope();
        let call = (fact.aggregate_type == "tool_call").then(|| fact.aggregate_id.parse().ok()).flatten();
        [
            Some(Self::Workspace(scope)),
            fact.conversation_id.map(|conversation| Self::Conversation(scope, conversation)),
            call.map(|call| Self::Call(scope, call)),
        ]
        .into_iter()
        .flatten()
    }
}
