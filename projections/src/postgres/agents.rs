//! `agent.agents` and `agent.agent_versions`. Fed by agents; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::AgentEvent;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};

table! {
    /// An agent.
    Agent in "agent.agents" { name: String, latest_agent_version_id: Uuid, created_at: DateTime<Utc> }
}

table! {
    /// One immutable version of an agent.
    AgentVersion in "agent.agent_versions" {
        agent_id: Uuid, number: i32, instructions: String, published_at: DateTime<Utc>,
    }
}

/// The rows of both tables.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Agents {
    pub(crate) agents: Rows<Agent>,
    pub(crate) versions: Rows<AgentVersion>,
}

impl Agents {
    /// Takes in what happened to an agent.
    pub(super) fn take(&mut self, source: Source<'_>, event: &AgentEvent) {
        let row = self.agents.at(source.fact, source.id);
        match event {
            AgentEvent::Created { name } => {
                row.name = Some(name.clone());
                row.created_at = source.at();
            }
            AgentEvent::VersionPublished { version } => {
                row.latest_agent_version_id = Some(version.agent_version_id.0);
                let row = self.versions.at(source.fact, version.agent_version_id.0);
                row.agent_id = Some(source.id);
                row.number = Some(version.number.cast_signed());
                row.instructions = Some(version.instructions.clone());
                row.published_at = source.at();
            }
        }
    }

    /// Writes both tables.
    pub(super) async fn write(&self, connection: &mut PgConnection, shadow: &str) -> Result<(), sqlx::Error> {
        self.agents.write(connection, shadow).await?;
        self.versions.write(connection, shadow).await
    }
}
