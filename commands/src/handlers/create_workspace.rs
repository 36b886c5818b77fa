//! An operator makes a workspace: with its policy, its tools, its agent and an owner's key, in one commit.

use oxagen_domain::policy::{Policy, PolicyCommand, PolicyDocument};
use oxagen_domain::{
    Agent, AgentCommand, AgentId, AgentVersionId, ApiKey, ApiKeyCommand, ApiKeyId, KeyLimits, Role, Scope,
    TenantId, Workspace, WorkspaceCommand, WorkspaceId,
};
use serde::Serialize;
use uuid::Uuid;

use super::keys::{IssuedKey, NewKey};
use crate::{CommandError, Commands, Context};

/// What a workspace's own agent is told first.
const INSTRUCTIONS: &str = "You are a helpful assistant. Use the tools you are given when they help, and say plainly \
                            what you did, what you could not do, and why.";

/// A workspace to make.
#[derive(Clone, Debug)]
pub struct NewWorkspace {
    /// Its name: 1 to 200 characters.
    pub name: String,
    /// The tenant that it belongs to; none makes one.
    pub tenant_id: Option<TenantId>,
    /// What it permits.
    pub policy: PolicyDocument,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceReceipt {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The key of its owner.
    pub key: IssuedKey,
    /// Its agent.
    pub agent_id: AgentId,
}

/// The agent that every workspace has.
pub(crate) fn default_agent(workspace: WorkspaceId) -> AgentId {
    AgentId::derived(workspace.0, "agent/default")
}

impl Commands {
    /// Makes a workspace. For operators: there is no caller yet whose right could be asked.
    ///
    /// # Errors
    /// `InvalidInput`, `Unavailable`.
    pub async fn create_workspace(&self, request: NewWorkspace) -> Result<WorkspaceReceipt, CommandError> {
        let tenant = request.tenant_id.unwrap_or_else(|| TenantId(Uuid::now_v7()));
        let scope = Scope { tenant, workspace: WorkspaceId(Uuid::now_v7()) };
        let agent_id = default_agent(scope.workspace);
        let owner = NewKey {
            name: "owner".to_owned(),
            role: Role::Owner,
            limits: KeyLimits::default(),
            user_id: None,
            idempotency_key: None,
        };
        let (key, record) = IssuedKey::make(owner, ApiKeyId(Uuid::now_v7()));
        let context = Context::own(scope, "operator", scope.workspace.0);
        let mut rounds = self.rounds();
        loop {
            let mut unit = self.unit(&context, &rounds);
            let workspace = scope.workspace.to_string();
            unit.expect_new::<Workspace>(&workspace);
            unit.expect_new::<Policy>(&workspace);
            unit.expect_new::<Agent>(&agent_id.to_string());
            unit.expect_new::<ApiKey>(&key.key_id.to_string());
            let create = WorkspaceCommand::Create { name: request.name.clone() };
            unit.decide::<Workspace>(&workspace, create).await?;
            unit.decide::<Workspace>(&workspace, WorkspaceCommand::PublishTools).await?;
            unit.decide::<Policy>(&workspace, PolicyCommand::Set(request.policy.clone())).await?;
            let publish = AgentCommand::Publish {
                name: "assistant".to_owned(),
                agent_version_id: AgentVersionId::derived(agent_id.0, "version/1"),
                instructions: INSTRUCTIONS.to_owned(),
            };
            unit.decide::<Agent>(&agent_id.to_string(), publish).await?;
            let create = ApiKeyCommand::Create { scope, record: record.clone() };
            unit.decide::<ApiKey>(&key.key_id.to_string(), create).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(WorkspaceReceipt {
                    tenant_id: tenant,
                    workspace_id: scope.workspace,
                    key,
                    agent_id,
                });
            }
        }
    }

    /// Brings the tools of a workspace up to this build's catalogue; does nothing when they are.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn publish_tools(&self, scope: Scope) -> Result<(), CommandError> {
        let context = Context::own(scope, "catalog", scope.workspace.0);
        let mut rounds = self.rounds();
        loop {
            let mut unit = self.unit(&context, &rounds);
            unit.decide::<Workspace>(&scope.workspace.to_string(), WorkspaceCommand::PublishTools).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
