//! `execution.executions`: turns and direct calls as they run. Fed by turns and tool calls; read by the gateway and,
//! to find what was left lying, by the runner.

use chrono::{DateTime, Utc};
use oxagen_domain::tool_call::ToolCallEvent;
use oxagen_domain::turn::{TurnEvent, Usage};
use oxagen_domain::{CallId, ExecutionId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::Source;
use super::tool_calls::error_of;
use crate::table::{Rows, table};

table! {
    /// A turn or a direct call.
    Execution in "execution.executions" {
        kind: String, status: String, conversation_id: Uuid, turn_id: Uuid, call_id: Uuid, user_message_id: Uuid,
        message_id: Uuid, agent_id: Uuid, agent_version_id: Uuid, model: String, budget: Value, requested_by: Uuid,
        runner_id: Uuid, epoch: i64, input_tokens: i64, output_tokens: i64, error: Value => status,
        requested_at: DateTime<Utc>, started_at: DateTime<Utc>, finished_at: DateTime<Utc> => status,
        cancel_requested_at: DateTime<Utc>, updated_at: DateTime<Utc>,
    }
}

impl Execution {
    fn stands(&mut self, status: &str) {
        self.status = Some(status.to_owned());
        self.error = None;
        self.finished_at = None;
    }

    fn ends(&mut self, status: &str, source: Source<'_>) {
        self.stands(status);
        self.finished_at = source.at();
    }

    fn spent(&mut self, usage: Usage) {
        self.input_tokens = Some(usage.input_tokens.cast_signed());
        self.output_tokens = Some(usage.output_tokens.cast_signed());
    }
}

/// Takes in what happened to a turn.
pub(super) fn turn(rows: &mut Rows<Execution>, source: Source<'_>, event: &TurnEvent) {
    let row = rows.at(source.fact, source.id);
    row.updated_at = source.at();
    match event {
        TurnEvent::Requested { spec, .. } => {
            row.stands("queued");
            row.kind = Some("turn".to_owned());
            row.conversation_id = Some(spec.conversation_id.0);
            row.turn_id = Some(spec.turn_id.0);
            row.user_message_id = Some(spec.user_message_id.0);
            row.message_id = Some(spec.assistant_message_id.0);
            row.agent_id = Some(spec.agent_id.0);
            row.agent_version_id = Some(spec.agent_version_id.0);
            row.model.clone_from(&spec.model);
            row.budget = serde_json::to_value(spec.budget).ok();
            row.requested_by = Some(spec.requested_by.0);
            row.requested_at = source.at();
        }
        TurnEvent::Started { at } => {
            row.stands("running");
            row.started_at = Some(*at);
        }
        TurnEvent::Claimed { runner_id, epoch } | TurnEvent::TakenOver { runner_id, epoch } => {
            (row.runner_id, row.epoch) = (Some(runner_id.0), Some(epoch.cast_signed()));
        }
        TurnEvent::Paused { .. } => row.stands("paused"),
        TurnEvent::Resumed { .. } => row.stands("running"),
        TurnEvent::CancelRequested { .. } => row.cancel_requested_at = source.at(),
        TurnEvent::Completed { usage, .. } => {
            row.ends("completed", source);
            row.spent(*usage);
        }
        TurnEvent::Failed { code, message, usage, .. } => {
            row.ends("failed", source);
            row.error = Some(json!({ "code": code, "message": message }));
            row.spent(*usage);
        }
        TurnEvent::Cancelled { by, reason, usage, .. } => {
            row.ends("cancelled", source);
            row.error = Some(json!({ "code": "cancelled", "message": reason, "by": by }));
            row.spent(*usage);
        }
        TurnEvent::StepStarted { .. }
        | TurnEvent::StepCompleted { .. }
        | TurnEvent::StepFailed { .. }
        | TurnEvent::ModeSwitched { .. }
        | TurnEvent::Answered { .. } => {}
    }
}

/// Takes in what happened to a call: progress of its turn, or the whole life of a direct execution.
pub(super) fn call(rows: &mut Rows<Execution>, source: Source<'_>, event: &ToolCallEvent) {
    if let Some(turn) = source.fact.turn_id {
        rows.at(source.fact, turn.0).updated_at = source.at();
        return;
    }
    let row = rows.at(source.fact, ExecutionId::of_direct_call(CallId(source.id)).0);
    row.updated_at = source.at();
    match event {
        ToolCallEvent::Requested { spec, at } => {
            row.stands("running");
            row.kind = Some("direct".to_owned());
            row.call_id = Some(source.id);
            row.requested_by = Some(spec.requested_by.0);
            row.requested_at = Some(*at);
        }
        ToolCallEvent::Held { .. } => row.stands("paused"),
        ToolCallEvent::Cleared { .. } => row.stands("running"),
        ToolCallEvent::Started { runner_id, at, .. } => {
            row.stands("running");
            row.runner_id = Some(runner_id.0);
            row.started_at = Some(*at);
        }
        ToolCallEvent::Settled { .. } => {}
        ToolCallEvent::Completed { .. } => row.ends("completed", source),
        ToolCallEvent::Cancelled { .. } => row.ends("cancelled", source),
        ToolCallEvent::Failed { .. } | ToolCallEvent::Denied { .. } | ToolCallEvent::InDoubt { .. } => {
            row.ends("failed", source);
        }
    }
    row.error = error_of(event);
}
