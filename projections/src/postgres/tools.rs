//! `agent.tools` and `agent.tool_versions`. Fed by workspaces; read by analysts and by `agent.tool_assignments`.

use chrono::{DateTime, Utc};
use oxagen_domain::{PublishedTool, WorkspaceEvent, derive};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// A tool, as its newest version has it.
    Tool in "agent.tools" {
        capability: String, description: String, category: String, effect: String, risk_level: String,
        requires_approval: bool, tool_version_id: Uuid,
    }
}

table! {
    /// One immutable version of a tool.
    ToolVersion in "agent.tool_versions" {
        tool_id: Uuid, capability: String, schema_digest: String, published_at: DateTime<Utc>,
    }
}

/// The rows of both tables.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tools {
    pub(crate) tools: Rows<Tool>,
    pub(crate) versions: Rows<ToolVersion>,
}

impl Tools {
    /// Takes in what happened to a workspace.
    pub(super) fn take(&mut self, source: Source<'_>, event: &WorkspaceEvent) {
        match event {
            WorkspaceEvent::Created { .. } => {}
            WorkspaceEvent::ToolsPublished { tools } => {
                tools.iter().for_each(|tool| self.publish(source, tool))
            }
        }
    }

    fn publish(&mut self, source: Source<'_>, tool: &PublishedTool) {
        let id = derive(source.fact.workspace_id.0, &format!("tool/{}", tool.capability));
        let row = self.tools.at(source.fact, id);
        row.capability = Some(tool.capability.clone());
        row.description = Some(tool.description.clone());
        row.category = Some(tool.category.clone());
        row.effect = word(&tool.effect);
        row.risk_level = word(&tool.risk_level);
        row.requires_approval = Some(tool.requires_approval);
        row.tool_version_id = Some(tool.tool_version_id.0);
        let version = self.versions.at(source.fact, tool.tool_version_id.0);
        version.tool_id = Some(id);
        version.capability = Some(tool.capability.clone());
        version.schema_digest = Some(tool.schema_digest.clone());
        version.published_at = source.at();
    }

    /// Writes both tables.
    pub(super) async fn write(&self, connection: &mut PgConnection, shadow: &str) -> Result<(), sqlx::Error> {
        self.tools.write(connection, shadow).await?;
        self.versions.write(connection, shadow).await
    }
}
