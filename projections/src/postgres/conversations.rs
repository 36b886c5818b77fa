//! `chat.conversations`. Fed by conversations; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::ConversationEvent;

use super::source::Source;
use crate::table::{Rows, table};

table! {
    /// A conversation.
    Conversation in "chat.conversations" {
        title: String, is_archived: bool, created_at: DateTime<Utc>, updated_at: DateTime<Utc>,
    }
}

/// Takes in what happened to a conversation.
pub(super) fn take(rows: &mut Rows<Conversation>, source: Source<'_>, event: &ConversationEvent) {
    let row = rows.at(source.fact, source.id);
    row.updated_at = source.at();
    match event {
        ConversationEvent::Started { title } => {
            row.title = Some(title.clone());
            row.is_archived = Some(false);
            row.created_at = source.at();
        }
        ConversationEvent::Renamed { title } => row.title = Some(title.clone()),
        ConversationEvent::Archived {} => row.is_archived = Some(true),
        ConversationEvent::MessageAdded { .. } | ConversationEvent::TurnClosed { .. } => {}
    }
}
