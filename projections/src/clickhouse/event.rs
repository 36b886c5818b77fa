//! `events`: one row per fact, with the beginning of its payload. Fed by every fact of a known type; read by analysts.

use chrono::{DateTime, Utc};
use clickhouse::Row;
use oxagen_domain::{ApiKeyEvent, Event, Fact, PREVIEW_LIMIT};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clickhouse::analytic;
use crate::word::word;

/// A row of `events`.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct EventRow {
    #[serde(with = "clickhouse::serde::uuid")]
    tenant_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    workspace_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    event_id: Uuid,
    event_type: String,
    aggregate_type: String,
    aggregate_id: String,
    aggregate_version: u64,
    #[serde(with = "clickhouse::serde::uuid::option")]
    conversation_id: Option<Uuid>,
    #[serde(with = "clickhouse::serde::uuid::option")]
    turn_id: Option<Uuid>,
    actor_kind: String,
    actor_id: String,
    #[serde(with = "clickhouse::serde::uuid")]
    causation_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    correlation_id: Uuid,
    #[serde(with = "clickhouse::serde::chrono::datetime64::millis")]
    at: DateTime<Utc>,
    payload: String,
    payload_bytes: u64,
    sequence: u64,
}

analytic!(EventRow in "events" by event_id, kept 90 days from at);

impl EventRow {
    /// The row of a fact; `None` for one of a type that this build does not know. Its body is not read: what it says
    /// is for others.
    pub(crate) fn of(fact: &Fact) -> Option<Self> {
        Event::kinds().any(|kind| kind == fact.kind).then(|| Self::written(fact))
    }

    fn written(fact: &Fact) -> Self {
        let payload = fact.payload.to_string();
        Self {
            tenant_id: fact.tenant_id.0,
            workspace_id: fact.workspace_id.0,
            event_id: fact.event_id,
            event_type: fact.kind.clone(),
            aggregate_type: fact.aggregate_type.clone(),
            aggregate_id: fact.aggregate_id.clone(),
            aggregate_version: fact.aggregate_version,
            conversation_id: fact.conversation_id.map(|id| id.0),
            turn_id: fact.turn_id.map(|id| id.0),
            actor_kind: word(&fact.actor.kind).unwrap_or_default(),
            actor_id: fact.actor.id.clone(),
            causation_id: fact.causation_id,
            correlation_id: fact.correlation_id,
            at: fact.occurred_at,
            payload: if ApiKeyEvent::KINDS.contains(&fact.kind.as_str()) {
                // A key's hash is for the journal alone.
                String::new()
            } else {
                payload[..payload.floor_char_boundary(PREVIEW_LIMIT)].to_owned()
            },
            payload_bytes: payload.len() as u64,
            sequence: fact.seq,
        }
    }
}
