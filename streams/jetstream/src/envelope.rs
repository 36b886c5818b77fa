//! A fact as a message: the fact's JSON as body, its identifiers as headers.

use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use oxagen_domain::Fact;

use crate::subject::{self, BadKind};

/// The fact's place in history.
pub const SEQ: &str = "Oxagen-Seq";
/// The aggregate's identifier.
pub const AGGREGATE_ID: &str = "Oxagen-Aggregate-Id";
/// The conversation, if it belongs to one.
pub const CONVERSATION_ID: &str = "Oxagen-Conversation-Id";
/// The turn, if it belongs to one.
pub const TURN_ID: &str = "Oxagen-Turn-Id";
/// W3C trace context.
pub const TRACEPARENT: &str = "traceparent";
/// Says where the body is when the message does not carry it: only ever [`JOURNAL`].
pub const BODY: &str = "Oxagen-Body";
/// The fact is too large for a message and is read from the journal by its `seq`.
pub const JOURNAL: &str = "journal";

/// Bytes that a server counts beside the body: headers and protocol lines.
const HEADER_ROOM: usize = 4 * 1024;

/// A message on the stream that a reader cannot turn into a fact. The journal has the fact with that `seq`.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// Too large to be carried.
    #[error("its body was too large to be carried and is in the journal alone")]
    InJournal,
    /// Published by somebody else than the relay, or damaged.
    #[error("it is not a fact of this history: {0}")]
    NotAFact(String),
}

/// A fact's subject and message. One that would be larger than `max_payload` bytes is announced without its body.
///
/// # Errors
/// [`BadKind`] when the fact's type cannot be part of a subject.
pub fn encode(prefix: &str, fact: &Fact, max_payload: usize) -> Result<(String, PublishMessage), BadKind> {
    let subject = subject::fact(prefix, fact.scope(), &fact.kind)?;
    let mut message = PublishMessage::build()
        .message_id(fact.event_id.to_string())
        .expected_last_sequence(fact.seq.saturating_sub(1))
        .header(SEQ, fact.seq.to_string())
        .header(AGGREGATE_ID, fact.aggregate_id.as_str());
    if let Some(conversation) = fact.conversation_id {
        message = message.header(CONVERSATION_ID, conversation.to_string());
    }
    if let Some(turn) = fact.turn_id {
        message = message.header(TURN_ID, turn.to_string());
    }
    if let Some(traceparent) = &fact.traceparent {
        message = message.header(TRACEPARENT, traceparent.as_str());
    }
    // A fact holds only strings, numbers and a `Value`: it always has a JSON form.
    let body = serde_json::to_vec(fact).unwrap_or_default();
    let message = if body.is_empty() || body.len() + HEADER_ROOM > max_payload {
        message.header(BODY, JOURNAL)
    } else {
        message.payload(body.into())
    };
    Ok((subject, message))
}

/// The fact that a message at place `seq` of the stream carries.
///
/// # Errors
/// [`Unread`] when it does not carry one; the reader then takes the fact from the journal.
pub fn decode(seq: u64, headers: Option<&HeaderMap>, body: &[u8]) -> Result<Fact, Unread> {
    let elsewhere = headers.and_then(|headers| headers.get(BODY)).is_some_and(|at| at.as_str() == JOURNAL);
    if elsewhere {
        return Err(Unread::InJournal);
    }
    let fact: Fact = serde_json::from_slice(body).map_err(|cause| Unread::NotAFact(cause.to_string()))?;
    if fact.seq != seq {
        return Err(Unread::NotAFact(format!("it says seq {} and stands at {seq}", fact.seq)));
    }
    Ok(fact)
}
