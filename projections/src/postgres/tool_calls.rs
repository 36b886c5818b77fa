//! `execution.tool_calls`: one row per call, whatever happened to it. Fed by tool calls; read by the
//! gateway and by people.

use chrono::{DateTime, Utc};
use oxagen_domain::tool_call::{CallRecord, CallSpec, Refused, ToolCallEvent};
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// A tool call. Every fact of a call says how it stands, so `error` is always that of the last one.
    ToolCall in "execution.tool_calls" {
        conversation_id: Uuid, message_id: Uuid, turn_id: Uuid, execution_id: Uuid, execution_step_id: Uuid,
        capability: String, tool_version_id: Uuid, origin: String, effect: String, risk_level: String, status: String,
        attempt: i32, input: Value, input_ref: String, input_digest: String, output: Value, output_ref: String,
        error: Value => status, policy_rule: String, required_approval: bool, approval_id: Uuid,
        provider_call_id: String, requested_by: Uuid, runner_id: Uuid, requested_at: DateTime<Utc>,
        started_at: DateTime<Utc>, finished_at: DateTime<Utc> => status, latency_ms: i64, original_input: Value,
        plan_id: Uuid, plan_step: String, settled_as: String, settled_by: Uuid,
    }
}

/// Takes in what happened to a call.
pub(super) fn take(rows: &mut Rows<ToolCall>, source: Source<'_>, event: &ToolCallEvent) {
    let row = rows.at(source.fact, source.id);
    row.error = error_of(event);
    row.finished_at = None;
    match event {
        ToolCallEvent::Requested { spec, at } => {
            row.stands("requested");
            row.requested_at = Some(*at);
            row.required_approval = Some(false);
            row.specified(spec);
        }
        ToolCallEvent::Held { approval_id, rule } => {
            row.stands("held");
            row.required_approval = Some(true);
            row.approval_id = Some(approval_id.0);
            row.policy_rule = Some(rule.clone());
        }
        ToolCallEvent::Cleared { rule, edited, .. } => {
            row.stands("cleared");
            row.policy_rule = Some(rule.clone());
            if let Some(edited) = edited {
                row.input = Some(edited.input.shown());
                row.input_ref = edited.input.reference().map(ToString::to_string);
                row.input_digest = Some(edited.input_digest.to_string());
            }
        }
        ToolCallEvent::Settled { outcome, by, .. } => {
            row.settled_as = word(outcome);
            row.settled_by = Some(by.0);
        }
        ToolCallEvent::Started { attempt, runner_id, at } => {
            row.stands("started");
            row.attempt = Some(attempt.cast_signed());
            row.runner_id = Some(runner_id.0);
            row.started_at = Some(*at);
        }
        ToolCallEvent::Completed { output, record, .. } => {
            row.ends(record);
            row.output = Some(output.shown());
            row.output_ref = output.reference().map(ToString::to_string);
        }
        ToolCallEvent::Failed { record, .. }
        | ToolCallEvent::Cancelled { record, .. }
        | ToolCallEvent::Denied { record, .. }
        | ToolCallEvent::InDoubt { record, .. } => row.ends(record),
    }
}

impl ToolCall {
    fn stands(&mut self, status: &str) {
        self.status = Some(status.to_owned());
    }

    fn specified(&mut self, spec: &CallSpec) {
        let place = spec.place.as_ref();
        self.conversation_id = place.map(|place| place.conversation_id.0);
        self.message_id = place.map(|place| place.message_id.0);
        self.turn_id = place.map(|place| place.turn_id.0);
        self.provider_call_id = place.map(|place| place.provider_call_id.clone());
        self.execution_id = Some(spec.execution_id.0);
        self.execution_step_id = Some(spec.execution_step_id.0);
        self.capability = Some(spec.capability.clone());
        self.tool_version_id = Some(spec.tool_version_id.0);
        self.origin = word(&spec.surface);
        self.effect = word(&spec.effect);
        self.risk_level = word(&spec.risk);
        self.plan_id = spec.plan.as_ref().map(|step| step.plan_id.0);
        self.plan_step = spec.plan.as_ref().map(|step| step.step_id.clone());
        self.original_input = Some(spec.input.shown());
        self.input = Some(spec.input.shown());
        self.input_ref = spec.input.reference().map(ToString::to_string);
        self.input_digest = Some(spec.input_digest.to_string());
        self.requested_by = Some(spec.requested_by.0);
    }

    fn ends(&mut self, record: &CallRecord) {
        self.stands(record.status.name());
        self.attempt = Some(record.attempt.cast_signed());
        self.policy_rule = Some(record.policy_rule.clone());
        self.finished_at = Some(record.finished_at);
        self.latency_ms = Some(record.latency_ms.cast_signed());
    }
}

/// Why a call did not succeed: `{code, message, flaws?}`.
pub(super) fn error_of(event: &ToolCallEvent) -> Option<Value> {
    let told = |record: &CallRecord, message: &str| {
        let code = record.error_code.as_deref().unwrap_or(record.status.name());
        Some(json!({ "code": code, "message": message }))
    };
    match event {
        ToolCallEvent::Requested { .. }
        | ToolCallEvent::Held { .. }
        | ToolCallEvent::Cleared { .. }
        | ToolCallEvent::Settled { .. }
        | ToolCallEvent::Started { .. }
        | ToolCallEvent::Completed { .. } => None,
        ToolCallEvent::Failed { error, .. } => serde_json::to_value(error).ok(),
        ToolCallEvent::Cancelled { reason, record } | ToolCallEvent::InDoubt { reason, record } => {
            told(record, reason)
        }
        ToolCallEvent::Denied { refused, record } => match refused {
            Refused::Policy { reason } => told(record, reason),
            Refused::Person { note, .. } => told(record, note.as_deref().unwrap_or_default()),
            Refused::Expiry => told(record, "nobody answered the approval in time"),
        },
    }
}
