//! Facts for the tests of folds.

use chrono::{DateTime, Utc};
use oxagen_domain::{Actor, ConversationId, EventKind, Fact, TurnId};
use serde::Serialize;
use uuid::Uuid;

/// A fixed time and some seconds.
pub(crate) fn at(seconds: u64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds.cast_signed(), 0).unwrap()
}

/// A fact that happened at second `seq` to the aggregate with this number.
pub(crate) fn fact(
    seq: u64,
    aggregate: u128,
    turn: Option<TurnId>,
    event: &(impl EventKind + Serialize),
) -> Fact {
    let mut payload = serde_json::to_value(event).unwrap();
    payload.as_object_mut().unwrap().remove("type");
    let kind = event.kind();
    Fact {
        seq,
        event_id: Uuid::from_u128(seq.into()),
        kind: kind.to_owned(),
        version: event.version(),
        aggregate_type: kind.split('.').next().unwrap().to_owned(),
        aggregate_id: Uuid::from_u128(aggregate).to_string(),
        aggregate_version: seq,
        tenant_id: Uuid::from_u128(1).into(),
        workspace_id: Uuid::from_u128(2).into(),
        conversation_id: turn.map(|_| ConversationId(Uuid::from_u128(3))),
        turn_id: turn,
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: at(seq),
        payload,
    }
}
