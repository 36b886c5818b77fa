//! `tool_invocations`: one row per call, from the fact that ends it. Fed by tool calls; read by analysts.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use clickhouse::Row;
use oxagen_domain::tool_call::CallRecord;
use oxagen_domain::{Event, Fact};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clickhouse::analytic;
use crate::word::word;

/// A row of `tool_invocations`.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct InvocationRow {
    #[serde(with = "clickhouse::serde::uuid")]
    tenant_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    workspace_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid::option")]
    conversation_id: Option<Uuid>,
    #[serde(with = "clickhouse::serde::uuid::option")]
    turn_id: Option<Uuid>,
    #[serde(with = "clickhouse::serde::uuid")]
    execution_id: Uuid,
    #[serde(with = "clickhouse::serde::uuid")]
    call_id: Uuid,
    capability: String,
    #[serde(with = "clickhouse::serde::uuid")]
    tool_version_id: Uuid,
    surface: String,
    effect: String,
    risk_level: String,
    status: String,
    attempt: u32,
    policy_rule: String,
    #[serde(with = "clickhouse::serde::chrono::datetime64::millis")]
    requested_at: DateTime<Utc>,
    #[serde(with = "clickhouse::serde::chrono::datetime64::millis::option")]
    started_at: Option<DateTime<Utc>>,
    #[serde(with = "clickhouse::serde::chrono::datetime64::millis")]
    finished_at: DateTime<Utc>,
    latency_ms: u64,
    input_bytes: u64,
    output_bytes: u64,
    error_code: String,
    sequence: u64,
}

/// The calls that ended in a batch, each as it ended last: one in doubt may have been settled by a late result.
#[derive(Debug, Default)]
pub(crate) struct Invocations(BTreeMap<Uuid, InvocationRow>);

impl Invocations {
    /// Takes in a fact. The error says what is wrong with it.
    pub(crate) fn take(&mut self, fact: &Fact, event: &Event) -> Result<(), String> {
        let Event::ToolCall(event) = event else { return Ok(()) };
        let Some(record) = event.record() else { return Ok(()) };
        let id = &fact.aggregate_id;
        let call =
            id.parse().map_err(|_| format!("fact {} is of call `{id}`, which is no UUID", fact.seq))?;
        self.0.insert(call, InvocationRow::of(fact, call, record));
        Ok(())
    }

    /// The rows.
    pub(crate) fn rows(self) -> Vec<InvocationRow> {
        self.0.into_values().collect()
    }
}

analytic!(InvocationRow in "tool_invocations" by call_id, kept 180 days from requested_at);

impl InvocationRow {
    fn of(fact: &Fact, call_id: Uuid, record: &CallRecord) -> Self {
        Self {
            tenant_id: fact.tenant_id.0,
            workspace_id: fact.workspace_id.0,
            conversation_id: record.conversation_id.map(|id| id.0),
            turn_id: record.turn_id.map(|id| id.0),
            execution_id: record.execution_id.0,
            call_id,
            capability: record.capability.clone(),
            tool_version_id: record.tool_version_id.0,
            surface: word(&record.surface).unwrap_or_default(),
            effect: word(&record.effect).unwrap_or_default(),
            risk_level: word(&record.risk_level).unwrap_or_default(),
            status: record.status.name().to_owned(),
            attempt: record.attempt,
            policy_rule: record.policy_rule.clone(),
            requested_at: record.requested_at,
            started_at: record.started_at,
            finished_at: record.finished_at,
            latency_ms: record.latency_ms,
            input_bytes: record.input_bytes,
            output_bytes: record.output_bytes,
            error_code: record.error_code.clone().unwrap_or_default(),
            sequence: fact.seq,
        }
    }
}
