//! An agent: a name and immutable versions of its instructions. A turn pins the version it runs with.

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::ids::AgentVersionId;

/// One immutable version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentVersion {
    /// Its identifier.
    pub agent_version_id: AgentVersionId,
    /// Its number, from 1.
    pub number: u32,
    /// What the model is told first.
    pub instructions: String,
}

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name; none before it is made.
    pub name: Option<String>,
    /// Its versions, oldest first.
    pub versions: Vec<AgentVersion>,
}

/// What has happened to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// It was made.
    Created {
        /// Its name.
        name: String,
    },
    /// A version was published.
    VersionPublished {
        /// The version.
        version: AgentVersion,
    },
}

/// What an agent can be told.
#[derive(Clone, Debug)]
pub enum AgentCommand {
    /// Publish a version, making the agent if it is new.
    Publish {
        /// The agent's name, for a new one.
        name: String,
        /// The version's identifier.
        agent_version_id: AgentVersionId,
        /// What the model is told first: at most 64 KiB.
        instructions: String,
    },
}

/// Why an agent said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    /// More than 64 KiB.
    #[error("instructions may have at most 65536 bytes, these have {0}")]
    TooLong(usize),
}

aggregate!(Agent as "agent": AgentCommand => AgentEvent or AgentRefusal);
event_kinds!(AgentEvent { Created => "agent.created", VersionPublished => "agent.version_published" });

impl Agent {
    /// The version with this identifier.
    pub fn version(&self, id: AgentVersionId) -> Option<&AgentVersion> {
        self.versions.iter().find(|version| version.agent_version_id == id)
    }

    fn evolve(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Created { name } => self.name = Some(name),
            AgentEvent::VersionPublished { version } => self.versions.push(version),
        }
    }

    fn decide(&self, command: AgentCommand) -> Result<Vec<AgentEvent>, AgentRefusal> {
        let AgentCommand::Publish { name, agent_version_id, instructions } = command;
        if instructions.len() > 65_536 {
            return Err(AgentRefusal::TooLong(instructions.len()));
        }
        if self.version(agent_version_id).is_some() {
            return Ok(vec![]);
        }
        let number = self.versions.len() as u32 + 1;
        let published =
            AgentEvent::VersionPublished { version: AgentVersion { agent_version_id, number, instructions } };
        Ok(match self.name {
            None => vec![AgentEvent::Created { name }, published],
            Some(_) => vec![published],
        })
    }
}
