//! A version of an agent is published.

use oxagen_domain::capability::Flaw;
use oxagen_domain::{Agent, AgentCommand, AgentId, AgentVersion, AgentVersionId, Right};
use serde::Serialize;
use uuid::Uuid;

use crate::{Caller, Code, CommandError, Commands};

/// A version to publish.
#[derive(Clone, Debug)]
pub struct NewAgent {
    /// The agent; none makes one.
    pub agent_id: Option<AgentId>,
    /// A new agent's name: 1 to 200 characters.
    pub name: String,
    /// What the model is told first: at most 64 KiB.
    pub instructions: String,
    /// The same one gives the same version.
    pub idempotency_key: Option<String>,
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
    /// What the model is told first by this version of an agent; none when there is no such version. A version never
    /// changes, so one that the process knows needs no look at the journal.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn instructions(
        &self,
        agent: AgentId,
        version: AgentVersionId,
    ) -> Result<Option<String>, CommandError> {
        let id = agent.to_string();
        let told = |agent: &Agent| agent.version(version).map(|version| version.instructions.clone());
        if let Some(told) = self.shared.recall::<Agent>(&id).and_then(|known| told(&known.state)) {
            return Ok(Some(told));
        }
        let loaded = self.journal().load::<Agent>(&id).await?;
        self.shared.learn(&id, &loaded);
        Ok(told(&loaded.state))
    }

    /// Publishes a version of an agent; turns that start from now on run with it.
    ///
    /// # Errors
    /// `Forbidden`, `NotFound`, `InvalidInput`, `IdempotencyKeyReused`, `Unavailable`.
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
        let key = agent.idempotency_key.as_deref();
        let id = |what: &str| {
            key.map_or_else(Uuid::now_v7, |key| {
                oxagen_domain::derive(caller.scope.workspace.0, &format!("{what}/{key}"))
            })
        };
        let agent_id = agent.agent_id.unwrap_or_else(|| AgentId(id("agents")));
        let agent_version_id = AgentVersionId(id("agent-versions"));
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            if agent.agent_id.is_some() {
                unit.owned::<Agent>(&agent_id.to_string(), "agent").await?;
            }
            let known = unit.load::<Agent>(&agent_id.to_string()).await?.state;
            let first = known.versions.iter().find(|version| version.agent_version_id == agent_version_id);
            if let Some(first) = first {
                let same_name = agent.agent_id.is_some() || known.name.as_ref() == Some(&agent.name);
                return repeated(first, same_name, &agent, agent_id);
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

fn repeated(
    first: &AgentVersion,
    same_name: bool,
    agent: &NewAgent,
    agent_id: AgentId,
) -> Result<AgentReceipt, CommandError> {
    if same_name && first.instructions == agent.instructions {
        let AgentVersion { agent_version_id, number, .. } = *first;
        return Ok(AgentReceipt { agent_id, agent_version_id, number });
    }
    let text = "this Idempotency-Key was used for another version: use a new one for a new version";
    Err(CommandError::new(Code::IdempotencyKeyReused, text))
}
