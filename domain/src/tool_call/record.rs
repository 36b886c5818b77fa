//! The analytic row of a call: every column, carried by the fact that ends it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallSpec, ToolCall, ToolCallEvent};
use crate::capability::{Effect, Risk, Surface};
use crate::ids::{ConversationId, ExecutionId, ToolVersionId, TurnId};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It may not run.
    Denied,
    /// Nobody knows whether it happened.
    InDoubt,
}

impl CallStatus {
    /// Its name in rows and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::InDoubt => "in_doubt",
        }
    }
}

/// The columns of `tool_invocations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The conversation, for a call in a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The turn, for a call in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The execution.
    pub execution_id: ExecutionId,
    /// What was called.
    pub capability: String,
    /// The tool's version.
    pub tool_version_id: ToolVersionId,
    /// Where it came from.
    pub surface: Surface,
    /// What it changes.
    pub effect: Effect,
    /// How much it can break.
    pub risk_level: Risk,
    /// How it ended.
    pub status: CallStatus,
    /// Attempts made.
    pub attempt: u32,
    /// The rule that decided.
    pub policy_rule: String,
    /// When it was requested.
    pub requested_at: DateTime<Utc>,
    /// When the last attempt started; none if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finished_at: DateTime<Utc>,
    /// Milliseconds from the last attempt's start to the end; 0 if it never started.
    pub latency_ms: u64,
    /// Size of the input.
    pub input_bytes: u64,
    /// Size of the output.
    pub output_bytes: u64,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
}

impl ToolCallEvent {
    /// The row that an end carries; none for what is no end.
    pub fn record(&self) -> Option<&CallRecord> {
        match self {
            Self::Requested { .. }
            | Self::Held { .. }
            | Self::Cleared { .. }
            | Self::Settled { .. }
            | Self::Started { .. } => None,
            Self::Completed { record, .. }
            | Self::Failed { record, .. }
            | Self::Cancelled { record, .. }
            | Self::Denied { record, .. }
            | Self::InDoubt { record, .. } => Some(record),
        }
    }
}

/// What the end of a call adds to what is known of it.
pub(super) struct End<'a> {
    pub(super) status: CallStatus,
    pub(super) at: DateTime<Utc>,
    pub(super) output_bytes: u64,
    pub(super) error_code: Option<&'a str>,
}

impl CallRecord {
    /// The row of a call that ends now.
    pub(super) fn new(call: &ToolCall, spec: &CallSpec, end: End<'_>) -> Self {
        let ran = call.started_at.map_or(0, |from| (end.at - from).num_milliseconds().max(0));
        Self {
            conversation_id: spec.place.as_ref().map(|place| place.conversation_id),
            turn_id: spec.place.as_ref().map(|place| place.turn_id),
            execution_id: spec.execution_id,
            capability: spec.capability.clone(),
            tool_version_id: spec.tool_version_id,
            surface: spec.surface,
            effect: spec.effect,
            risk_level: spec.risk,
            status: end.status,
            attempt: call.attempt,
            policy_rule: call.rule.clone(),
            requested_at: call.requested_at,
            started_at: call.started_at,
            finished_at: end.at,
            latency_ms: ran.unsigned_abs(),
            input_bytes: spec.input.bytes(),
            output_bytes: end.output_bytes,
            error_code: end.error_code.map(str::to_owned),
        }
    }
}
