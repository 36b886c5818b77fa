//! Agents and API keys. Fed by `agent.agents`, `agent_versions` and `api_keys`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::{AgentId, AgentVersionId, ApiKeyId, KeyLimits, Role, Scope, UserId};
use serde::{Deserialize, Serialize};

use super::{Queries, all, bounded, rows};
use crate::error::QueryError;
use crate::page::{Page, Paged};

/// An agent with its newest version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct AgentRow {
    /// The agent.
    pub agent_id: AgentId,
    /// Its name.
    pub name: String,
    /// Its newest version.
    pub agent_version_id: AgentVersionId,
    /// That version's number, from 1.
    pub number: u32,
    /// What the model is told first.
    pub instructions: String,
    /// When the agent was made.
    pub created_at: DateTime<Utc>,
    /// When the version was published.
    pub published_at: DateTime<Utc>,
}

/// An API key; its text is shown once, when it is made, and never kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct KeyRow {
    /// The key.
    pub key_id: ApiKeyId,
    /// Its name.
    pub name: String,
    /// Whom it stands for.
    pub user_id: UserId,
    /// What it may do.
    pub role: Role,
    /// What of that it is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<KeyLimits>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was revoked; none while it opens something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
}

const AGENTS: &str = "
select to_jsonb(r) from (
  select a.id as agent_id, a.name, v.id as agent_version_id, v.number, v.instructions, a.created_at, v.published_at
  from agent.agents a join agent.agent_versions v
    on v.tenant_id = a.tenant_id and v.workspace_id = a.workspace_id and v.id = a.latest_agent_version_id
  where a.name is not null and v.number is not null
  order by a.created_at desc, a.id desc limit 1000) r";
const KEYS: &str = "
select to_jsonb(r) from (
  select id as key_id, name, user_id, role, limits, created_at, revoked_at from agent.api_keys
  where created_at is not null and ($1::timestamptz is null or (created_at, id) < ($1, $2))
  order by created_at desc, id desc limit $3) r";

impl Queries {
    /// The workspace's agents, newest first; at most a thousand.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn agents(&self, scope: Scope) -> Result<Vec<AgentRow>, QueryError> {
        bounded(async { all(&mut self.inside(scope).await?, rows(AGENTS)).await }).await
    }

    /// The workspace's keys, newest first.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn keys(&self, scope: Scope, page: Page) -> Result<Paged<KeyRow>, QueryError> {
        let (time, id) = page.after()?;
        let query = rows::<KeyRow>(KEYS).bind(time).bind(id).bind(page.rows()?);
        let items = bounded(async { all(&mut self.inside(scope).await?, query).await }).await?;
        Ok(page.of(items, |row| (row.created_at, row.key_id.0)))
    }
}
