//! A version of an agent is published.

use oxagen_domain::capability::Flaw;
use oxagen_domain::{Agent, AgentCommand, AgentId, AgentVersionId, Right};
use serde::Serialize;
use uuid::Uuid;

use crate::{Caller, CommandError, Commands};

/// A version to publish.
#[derive(Clone, Debug)]
pub struct NewAgent {
    /// The agent; none makes one.
    pub agent_id: Option<AgentId>,
    /// A new agent's name: 1 to 200 characters.
    pub name: String,
    /// What the model is told first: at most 64 KiB.
    pub instructions: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReceipt {
    /// The agent.
    pub agent_id: AgentId,
    /// The version.
    pub agent_version_id: AgentVersionId,
    /// Its number, from 1.
    pub number: u32,
}

impl Commands {
    /// Publishes a version of an agent; turns that start from now on run with it.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`, `InvalidInput`, `Unavailable`.
    pub async fn publish_agent(
        &self,
        caller: &Caller,
        agent: NewAgent,
    ) -> Result<AgentReceipt, CommandError> {
        caller.must(Right::Administer)?;
        if agent.name.trim().is_empty() || agent.name.chars().count() > 200 {
            return Err(CommandError::invalid(vec![Flaw::new(
                "/name",
                "a name has 1 to 200 characters".to_owned(),
            )]));
        }
        let agent_id = agent.agent_id.unwrap_or_else(|| AgentId(Uuid::now_v7()));
        let agent_version_id = AgentVersionId(Uuid::now_v7());
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            if agent.agent_id.is_some() {
                unit.owned::<Agent>(&agent_id.to_string(), "agent").await?;
            }
            let command = AgentCommand::Publish {
                name: agent.name.clone(),
                agent_version_id,
                instructions: agent.instructions.clone(),
            };
            unit.decide::<Agent>(&agent_id.to_string(), command).await?;
            let number = unit.load::<Agent>(&agent_id.to_string()).await?.state.versions.len() as u32;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(AgentReceipt { agent_id, agent_version_id, number });
            }
        }
    }
}
