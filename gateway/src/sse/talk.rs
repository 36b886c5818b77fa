//! Whether a conversation has anything more to say.

use oxagen_domain::{Conversation, ConversationId, Entity, Event, Fact};

/// A conversation as far as its facts were seen.
pub(super) struct Talk {
    id: String,
    seen: Conversation,
}

impl Talk {
    pub(super) fn new(id: ConversationId) -> Self {
        Self { id: id.to_string(), seen: Conversation::default() }
    }

    /// Takes in a fact of the conversation.
    pub(super) fn fact(&mut self, fact: &Fact) {
        if fact.aggregate_id != self.id {
            return;
        }
        if let Ok(Some(Event::Conversation(event))) = fact.event() {
            Entity::evolve(&mut self.seen, event);
        }
    }

    /// Whether no turn runs and none waits. Between its start and its first message it only seems so.
    pub(super) fn is_idle(&self) -> bool {
        self.seen.head.is_some() && self.seen.open.is_none() && self.seen.queue.is_empty()
    }

    /// The turn that runs.
    pub(super) fn open(&self) -> Option<oxagen_domain::TurnId> {
        self.seen.open
    }
}
