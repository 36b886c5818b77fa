//! What can be watched, and where its past is read.

use oxagen_domain::{ConversationId, Fact, Scope};
use oxagen_journal::{FactFilter, Journal, JournalError};

use crate::hub::Topic;

/// What is watched.
#[derive(Clone)]
pub(crate) enum Source {
    /// A conversation with its live frames.
    Conversation(Scope, ConversationId),
    /// The facts of a workspace that pass a filter.
    Workspace(Scope, FactFilter),
}

impl Source {
    pub(super) fn topic(&self) -> Topic {
        match self {
            Self::Conversation(scope, conversation) => Topic::Conversation(*scope, *conversation),
            Self::Workspace(scope, FactFilter { conversation: Some(conversation), .. }) => {
                Topic::Conversation(*scope, *conversation)
            }
            Self::Workspace(scope, _) => Topic::Workspace(*scope),
        }
    }

    /// What a viewer loads who cannot go on from where it was.
    pub(super) fn snapshot(&self) -> String {
        match self {
            Self::Conversation(_, conversation) => format!("/v1/conversations/{conversation}"),
            Self::Workspace(..) => "/v1/conversations".to_owned(),
        }
    }

    /// A page of its past.
    pub(super) async fn page(
        &self,
        journal: &Journal,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Fact>, JournalError> {
        match self {
            Self::Conversation(scope, conversation) => {
                journal.conversation(*scope, *conversation, after, limit).await
            }
            Self::Workspace(scope, filter) => journal.page(*scope, filter, after, limit).await,
        }
    }

    /// Whether a fact of its topic is wanted.
    pub(super) fn wants(&self, fact: &Fact) -> bool {
        match self {
            Self::Conversation(..) => true,
            Self::Workspace(_, filter) => {
                filter.kinds.is_empty() || filter.kinds.iter().any(|kind| matches(kind, &fact.kind))
            }
        }
    }
}

/// An exact type, or all of an aggregate (`tool_call.*`).
fn matches(wanted: &str, kind: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => kind.starts_with(prefix),
        None => wanted == kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_exact_or_all_of_an_aggregate() {
        assert!(matches("turn.*", "turn.started") && matches("turn.started", "turn.started"));
        assert!(!matches("turn.*", "turnip.started") && !matches("turn.start", "turn.started"));
    }
}
