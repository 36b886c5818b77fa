//! `execution.timers`: when open approvals close by themselves. Fed by approvals; read by the reactor.

use chrono::{DateTime, Utc};
use oxagen_domain::ApprovalEvent;

use super::source::Source;
use crate::table::{Rows, table};

table! {
    /// A timer; its identifier is the approval's.
    Timer in "execution.timers" { kind: String, due_at: DateTime<Utc>, closed_at: DateTime<Utc> }
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
