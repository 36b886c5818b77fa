//! A conversation's turn ended: the next one that waits begins.

use super::Reaction;
use crate::conversation::ConversationEvent;

pub(super) fn react(event: &ConversationEvent) -> Vec<Reaction> {
    match event {
        ConversationEvent::TurnClosed { next_turn_id, .. } => {
            next_turn_id.map(|turn| Reaction::BeginTurn { turn }).into_iter().collect()
        }
        ConversationEvent::Started { .. }
        | ConversationEvent::MessageAdded { .. }
        | ConversationEvent::Renamed { .. }
        | ConversationEvent::Archived {} => vec![],
    }
}
