//! `token_usage`: one row per model call that answered. Fed by turns; read by analysts.

use chrono::{DateTime, Utc};
use clickhouse::Row;
use oxagen_domain::turn::TurnEvent;
use oxagen_domain::{Event, ExecutionId, Fact, StepId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clickhouse::analytic;

/// A row of `token_usage`.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct UsageRow {
    #[serde(with = "clickhouse::serde::uuid")]
    tenant_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    workspace_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    execution_step_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    execution_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid::option")]
    conversation_id: Option<Uuid>,
    #[serde(with = "clickhouse::serde::uuid::option")]
    turn_id: Option<Uuid>,
    step: u32,
    attempt: u32,
    model: String,
    input_tokens: u64,
    output_tokens: u64,
    #[serde(with = "clickhouse::serde::chrono::datetime64::millis")]
    at: DateTime<Utc>,
    sequence: u64,
}

analytic!(UsageRow in "token_usage" by execution_step_id, kept 365 days from at);

impl UsageRow {
    /// The row of a step that was answered; `None` for every other fact.
    pub(crate) fn of(fact: &Fact, event: &Event) -> Option<Self> {
        let Event::Turn(TurnEvent::StepCompleted { step, attempt, result }) = event else { return None };
        let execution = ExecutionId::of_turn(fact.turn_id?);
        Some(Self {
            tenant_id: fact.tenant_id.0,
            workspace_id: fact.workspace_id.0,
            execution_step_id: StepId::of(execution, *step).0,
            execution_id: execution.0,
            conversation_id: fact.conversation_id.map(|id| id.0),
            turn_id: fact.turn_id.map(|id| id.0),
            step: *step,
            attempt: *attempt,
            model: result.model.clone(),
            input_tokens: result.usage.input_tokens,
            output_tokens: result.usage.output_tokens,
            at: fact.occurred_at,
            sequence: fact.seq,
        })
    }
}
