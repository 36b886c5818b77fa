//! `execution.execution_steps`: the model calls of a turn, or the one call of a direct execution. Fed by turns and
//! tool calls; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::tool_call::ToolCallEvent;
use oxagen_domain::turn::TurnEvent;
use oxagen_domain::{CallId, ExecutionId, StepId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::Source;
use super::tool_calls::error_of;
use crate::table::{Rows, table};

table! {
    /// A step.
    ExecutionStep in "execution.execution_steps" {
        execution_id: Uuid, number: i32, kind: String, attempt: i32, status: String, model: String, finish: String,
        input_tokens: i64, output_tokens: i64, error: Value => status, started_at: DateTime<Utc>,
        finished_at: DateTime<Utc> => status,
    }
}

impl ExecutionStep {
    fn stands(&mut self, status: &str, finished_at: Option<DateTime<Utc>>) {
        self.status = Some(status.to_owned());
        self.error = None;
        self.finished_at = finished_at;
    }
}

/// Takes in what happened to a turn.
pub(super) fn turn(rows: &mut Rows<ExecutionStep>, source: Source<'_>, event: &TurnEvent) {
    let (TurnEvent::StepStarted { step, attempt }
    | TurnEvent::StepCompleted { step, attempt, .. }
    | TurnEvent::StepFailed { step, attempt, .. }) = event
    else {
        return;
    };
    let row = rows.at(source.fact, StepId::of(ExecutionId(source.id), *step).0);
    row.execution_id = Some(source.id);
    row.number = Some(step.cast_signed());
    row.kind = Some("model".to_owned());
    row.attempt = Some(attempt.cast_signed());
    if let TurnEvent::StepCompleted { result, .. } = event {
        row.stands("completed", source.at());
        row.model = Some(result.model.clone());
        row.finish = Some(result.finish.clone());
        row.input_tokens = Some(result.usage.input_tokens.cast_signed());
        row.output_tokens = Some(result.usage.output_tokens.cast_signed());
    } else if let TurnEvent::StepFailed { failure, .. } = event {
        row.stands("failed", source.at());
        row.error = Some(json!({ "code": failure.code, "message": failure.message }));
    } else {
        row.stands("running", None);
        row.started_at = source.at();
    }
}

/// Takes in what happened to a call outside a turn.
pub(super) fn call(rows: &mut Rows<ExecutionStep>, source: Source<'_>, event: &ToolCallEvent) {
    if source.fact.turn_id.is_some() {
        return;
    }
    let execution = ExecutionId::of_direct_call(CallId(source.id));
    let row = rows.at(source.fact, StepId::of(execution, 1).0);
    row.execution_id = Some(execution.0);
    row.number = Some(1);
    row.kind = Some("call".to_owned());
    match event {
        ToolCallEvent::Requested { .. } | ToolCallEvent::Held { .. } | ToolCallEvent::Cleared { .. } => {
            row.stands("running", None);
        }
        ToolCallEvent::Started { attempt, at, .. } => {
            row.stands("running", None);
            row.attempt = Some(attempt.cast_signed());
            row.started_at = Some(*at);
        }
        ToolCallEvent::Settled { .. } => {}
        ToolCallEvent::Completed { .. } => row.stands("completed", source.at()),
        ToolCallEvent::Cancelled { .. } => row.stands("cancelled", source.at()),
        ToolCallEvent::Failed { .. } | ToolCallEvent::Denied { .. } | ToolCallEvent::InDoubt { .. } => {
            row.stands("failed", source.at());
        }
    }
    row.error = error_of(event);
}
