//! Whether a conversation has anything more to say.

use oxagen_domain::{Conversation, ConversationId, Entity, Event, Fact};

/// A conversation as far as its facts were seen.
pub(super) struct Talk {
    id: String,
    seen: Conversation,
    version: u64,
    expected: u64,
}

impl Talk {
    /// A conversation that had at least this version when the viewer came.
    pub(super) fn new(id: ConversationId, expected: u64) -> Self {
        Self { id: id.to_string(), seen: Conversation::default(), version: 0, expected }
    }

    /// Takes in a fact of the conversation.
    pub(super) fn fact(&mut self, fact: &Fact) {
        if fact.aggregate_id != self.id {
            return;
        }
        if let Ok(Some(Event::Conversation(event))) = fact.event() {
            Entity::evolve(&mut self.seen, event);
            self.version = fact.aggregate_version;
        }
    }

    /// Whether no turn runs and none waits. Before its first message, and before the message that a viewer has just
    /// posted, it only seems so.
    pub(super) fn is_idle(&self) -> bool {
        self.version >= self.expected
            && self.seen.head.is_some()
            && self.seen.open.is_none()
            && self.seen.queue.is_empty()
    }

    /// The turn that runs.
    pub(super) fn open(&self) -> Option<oxagen_domain::TurnId> {
        self.seen.open
    }
}
