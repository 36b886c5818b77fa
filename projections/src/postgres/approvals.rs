//! `agent.approval_requests`. Fed by approvals; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::{ApprovalEvent, UserId};
use serde_json::Value;
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// An approval.
    ApprovalRequest in "agent.approval_requests" {
        conversation_id: Uuid, turn_id: Uuid, execution_step_id: Uuid, tool_call_id: Uuid, capability: String,
        input: Value, input_digest: String, risk_level: String, policy_rule: String, requested_by: Uuid,
        requested_at: DateTime<Utc>, expires_at: DateTime<Utc>, resolved_at: DateTime<Utc>, resolution: String,
        resolved_by_user_id: Uuid, note: String, reason: String, needed: i32, given: i32, asked_before: i32,
        edited_input: Value,
    }
}

/// Takes in what happened to an approval.
pub(super) fn take(rows: &mut Rows<ApprovalRequest>, source: Source<'_>, event: &ApprovalEvent) {
    let row = rows.at(source.fact, source.id);
    row.conversation_id = source.fact.conversation_id.map(|id| id.0);
    row.turn_id = source.fact.turn_id.map(|id| id.0);
    match event {
        ApprovalEvent::Requested { question } => {
            row.execution_step_id = Some(question.execution_step_id.0);
            row.tool_call_id = Some(question.call_id.0);
            row.capability = Some(question.capability.clone());
            row.input = Some(question.input.shown());
            row.input_digest = Some(question.input_digest.to_string());
            row.risk_level = word(&question.risk);
            row.policy_rule = Some(question.rule.clone());
            row.requested_by = Some(question.requested_by.0);
            row.requested_at = source.at();
            row.expires_at = Some(question.expires_at);
            row.reason.clone_from(&question.reason);
            row.needed = Some(question.terms.needed.cast_signed());
            row.given = Some(0);
            row.asked_before = Some(question.asked_before.cast_signed());
        }
        ApprovalEvent::Voted { given, .. } => row.given = Some(given.cast_signed()),
        ApprovalEvent::Approved { by, at, note, edited, .. } => {
            row.answered("approved", (*by, *at), note);
            row.edited_input = edited.as_ref().map(|edited| edited.input.shown());
        }
        ApprovalEvent::Denied { by, at, note, .. } => row.answered("denied", (*by, *at), note),
        ApprovalEvent::Expired { .. } => row.closed("expired", source.fact.occurred_at),
        ApprovalEvent::Superseded { .. } => row.closed("superseded", source.fact.occurred_at),
    }
}

impl ApprovalRequest {
    fn closed(&mut self, resolution: &str, at: DateTime<Utc>) {
        self.resolution = Some(resolution.to_owned());
        self.resolved_at = Some(at);
    }

    fn answered(&mut self, resolution: &str, (by, at): (UserId, DateTime<Utc>), note: &Option<String>) {
        self.closed(resolution, at);
        self.resolved_by_user_id = Some(by.0);
        self.note.clone_from(note);
    }
}
