//! `execution.timers`: when open approvals and plans close by themselves. Fed by both; read by the reactor.

use chrono::{DateTime, Utc};
use oxagen_domain::ApprovalEvent;
use oxagen_domain::plan::PlanEvent;

use super::source::Source;
use crate::table::{Rows, table};

table! {
    /// A timer; its identifier is that of the approval or the plan.
    Timer in "execution.timers" { kind: String, due_at: DateTime<Utc>, closed_at: DateTime<Utc> => due_at }
}

/// Takes in what happened to an approval.
pub(super) fn take(rows: &mut Rows<Timer>, source: Source<'_>, event: &ApprovalEvent) {
    let row = rows.at(source.fact, source.id);
    row.kind = Some("approval_expiry".to_owned());
    match event {
        ApprovalEvent::Requested { question } => row.due_at = Some(question.expires_at),
        ApprovalEvent::Voted { .. } => {}
        ApprovalEvent::Approved { .. }
        | ApprovalEvent::Denied { .. }
        | ApprovalEvent::Expired { .. }
        | ApprovalEvent::Superseded { .. } => row.closed_at = source.at(),
    }
}

/// Takes in what happened to a plan. An amended one has a new deadline, also after it was answered.
pub(super) fn take_plan(rows: &mut Rows<Timer>, source: Source<'_>, event: &PlanEvent) {
    let (due_at, closed_at) = match event {
        PlanEvent::Proposed { expires_at, .. } | PlanEvent::Amended { expires_at, .. } => (*expires_at, None),
        // These leave it as it is, and must not seem to be the last that was said of it.
        PlanEvent::Voted { .. } | PlanEvent::StepStarted { .. } | PlanEvent::StepEnded { .. } => return,
        PlanEvent::Approved { .. }
        | PlanEvent::Rejected { .. }
        | PlanEvent::Expired { .. }
        | PlanEvent::Superseded {} => (None, source.at()),
    };
    let row = rows.at(source.fact, source.id);
    row.kind = Some("plan_expiry".to_owned());
    row.due_at = due_at.or(row.due_at);
    row.closed_at = closed_at;
}
