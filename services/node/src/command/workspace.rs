//! `oxagen workspace`: for operators, straight on the journal.

use std::collections::BTreeSet;

use clap::Subcommand;
use oxagen_commands::NewWorkspace;
use oxagen_domain::TenantId;
use oxagen_domain::policy::PolicyDocument;
use serde_json::json;

use super::Desk;
use crate::failure::Failure;
use crate::output::{dim, note};
use crate::serve::Parts;

/// What the quick start enables.
const QUICK_START: &str = "agent.code.execute";

/// `workspace`.
#[derive(Debug, Subcommand)]
pub(crate) enum Workspace {
    /// Make a workspace with an owner's key, shown this once
    #[command(after_help = "Examples:\n  oxagen workspace create --quick-start\n  \
        oxagen workspace create --name research --enable agent.code.execute --approval-expiry 600 --json\n\n\
        It needs DATABASE_URL (or OXAGEN_JOURNAL_URL), and a running relay before the workspace is seen.")]
    Create(Create),
}

/// `workspace create`.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    /// A name for people
    #[arg(long, default_value = "workspace")]
    name: String,
    /// The tenant that it belongs to; a new one unless told
    #[arg(long, value_name = "TENANT_ID")]
    tenant: Option<TenantId>,
    /// Enable what a first conversation needs: agent.code.execute
    #[arg(long)]
    quick_start: bool,
    /// Its tier: free, team or enterprise
    #[arg(long, default_value = "team")]
    tier: String,
    /// Enable a capability of high risk by name
    #[arg(long, value_name = "CAPABILITY")]
    enable: Vec<String>,
    /// Let sandbox runs ask for network, where the tier has it
    #[arg(long)]
    network: bool,
    /// How long an approval stays open: 10 to 2592000
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    approval_expiry: u64,
}

/// Makes a workspace.
pub(super) async fn workspace(desk: &Desk, workspace: Workspace) -> Result<(), Failure> {
    let Workspace::Create(create) = workspace;
    let mut enabled: BTreeSet<String> = create.enable.into_iter().collect();
    if create.quick_start {
        enabled.insert(QUICK_START.to_owned());
    }
    let policy = PolicyDocument {
        tier: create.tier,
        enabled,
        network: create.network,
        approval_expiry_seconds: create.approval_expiry,
        ..PolicyDocument::default()
    };
    let request = NewWorkspace { name: create.name, tenant_id: create.tenant, policy };
    let commands = Parts::journal_only(&desk.configured.config).await?;
    let made = commands.create_workspace(request).await?;
    if desk.out.is_json() {
        return desk.out.value(&json!({
            "tenantId": made.tenant_id, "workspaceId": made.workspace_id, "agentId": made.agent_id,
            "apiKey": made.key.secret, "keyId": made.key.key_id, "userId": made.key.user_id,
        }));
    }
    note("The key of its owner is shown this once. To use it in this shell:\n");
    desk.out.line(format!("export OXAGEN_API_KEY={}", made.key.secret))?;
    desk.out.line(format!("export OXAGEN_TENANT_ID={}", made.tenant_id))?;
    desk.out.line(format!("export OXAGEN_WORKSPACE_ID={}", made.workspace_id))?;
    note(dim("\nthen: oxagen turn \"Hello!\""));
    Ok(())
}
