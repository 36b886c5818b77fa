//! `agent.workspaces` and `agent.policies`. Fed by workspaces and policies; read by the node and by
//! `agent.tool_assignments`.

use chrono::{DateTime, Utc};
use oxagen_domain::WorkspaceEvent;
use oxagen_domain::policy::{PolicyEvent, Tier};
use serde_json::Value;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// A workspace.
    Workspace in "agent.workspaces" { name: String, created_at: DateTime<Utc> }
}

table! {
    /// What a workspace permits. `risk_ceiling` is that of the tier that it names.
    Policy in "agent.policies" { version: i64, document: Value, risk_ceiling: String, set_at: DateTime<Utc> }
}

/// Takes in what happened to a workspace.
pub(super) fn workspace(rows: &mut Rows<Workspace>, source: Source<'_>, event: &WorkspaceEvent) {
    match event {
        WorkspaceEvent::Created { name } => {
            let row = rows.at(source.fact, source.fact.workspace_id.0);
            row.name = Some(name.clone());
            row.created_at = source.at();
        }
        WorkspaceEvent::ToolsPublished { .. } => {}
    }
}

/// Takes in what happened to a policy.
pub(super) fn policy(rows: &mut Rows<Policy>, source: Source<'_>, event: &PolicyEvent) {
    let row = rows.at(source.fact, source.fact.workspace_id.0);
    row.version = Some(source.fact.aggregate_version.cast_signed());
    let document = match event {
        PolicyEvent::Set { document } => document,
        PolicyEvent::ApprovalRemembered { .. } | PolicyEvent::ApprovalForgotten { .. } => return,
    };
    row.document = serde_json::to_value(document).ok();
    row.risk_ceiling = Tier::named(&document.tier).and_then(|tier| word(&tier.risk_ceiling));
    row.set_at = source.at();
}
