//! A conversation from its facts, for those who come before the view has it.

use oxagen_domain::turn::Usage;
use oxagen_domain::{Conversation, ConversationEvent, ConversationId, Entity, Event, Fact, MessageId};
use oxagen_projections::{ConversationRow, ConversationView, MessageView, Page, Paged, QueryError};
use serde_json::{Map, json};

/// The conversation as its state and its facts tell of it. Facts may be behind the state by a moment.
pub(super) fn view(
    id: ConversationId,
    state: Conversation,
    facts: &[Fact],
    page: &Page,
) -> Result<ConversationView, QueryError> {
    let mut told = Conversation::default();
    let mut messages = Vec::new();
    for fact in facts {
        let Ok(Some(Event::Conversation(event))) = fact.event() else { continue };
        if let ConversationEvent::MessageAdded { message, .. } = &event {
            let add = |message_id: MessageId, parent_message_id, role: &str, blocks| MessageView {
                message_id,
                parent_message_id,
                role: role.to_owned(),
                turn_id: message.turn_id,
                blocks,
                created_at: fact.occurred_at,
            };
            let text = Map::from_iter([
                ("type".to_owned(), json!("text")),
                ("text".to_owned(), json!(message.text)),
            ]);
            let asked = message.message_id;
            messages.push(add(asked, message.parent_message_id, "user", vec![text]));
            messages.push(add(message.assistant_message_id, Some(asked), "assistant", Vec::new()));
        }
        Entity::evolve(&mut told, event);
    }
    let created_at = facts.first().map_or_else(chrono::Utc::now, |fact| fact.occurred_at);
    let updated_at = facts.last().map_or(created_at, |fact| fact.occurred_at);
    let Conversation { title, archived, .. } = if told.exists { told } else { state };
    let row = ConversationRow { conversation_id: id, title, archived, created_at, updated_at };
    messages.reverse();
    let Paged { items: mut messages, next_cursor } =
        page.cut(messages, |message| (message.created_at, message.message_id.0))?;
    messages.reverse();
    // 0: whoever goes on from here with the stream gets everything.
    Ok(ConversationView { row, messages, next_cursor, usage: Usage::default(), last_seq: 0 })
}
