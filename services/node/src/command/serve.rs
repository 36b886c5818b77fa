//! `oxagen serve` and `oxagen dev`: roles in this process.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use oxagen_commands::NewWorkspace;
use oxagen_domain::policy::PolicyDocument;

use super::{Desk, migrate};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::note;
use crate::serve::{self, Parts, Role, log};

const EXAMPLES: &str = "\
Examples:
  oxagen serve gateway relay reactor runner projector-postgres projector-clickhouse projector-neo4j
  oxagen serve runner                       one more runner, on any machine that reaches the servers
  OXAGEN_ADMIN_LISTEN=127.0.0.1:9100 oxagen serve relay      with /healthz, /readyz and /metrics

A server that is away is waited for, and named. SIGTERM and Ctrl-C let what is under way end, within OXAGEN_DRAIN seconds.";

/// `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Which roles
    #[arg(required = true, value_enum, value_name = "ROLE")]
    roles: Vec<Role>,
    /// Where the gateway listens [OXAGEN_LISTEN]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

/// `dev`.
#[derive(Debug, Args)]
#[command(
    after_help = "It migrates the stores, makes a workspace if there is none, and runs every role in this process.\n\
    The servers must be there: `make up` starts them, `oxagen config` says where they are looked for."
)]
pub(crate) struct Dev {
    /// Where the gateway listens [OXAGEN_LISTEN]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

/// Runs roles.
pub(super) async fn serve(desk: &Desk, serve: Serve) -> Result<(), Failure> {
    let config = with_listen(desk, serve.listen)?;
    log::start(&config.log)?;
    let roles: Vec<Role> = serve.roles.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    for role in &roles {
        role.check(&config)?;
    }
    serve::run(&config, &roles).await
}

/// Runs everything.
pub(super) async fn dev(desk: &Desk, dev: Dev) -> Result<(), Failure> {
    let config = with_listen(desk, dev.listen)?;
    log::start(&config.log)?;
    let roles = Role::value_variants();
    for role in roles {
        role.check(&config)?;
    }
    migrate::all(&config, false, desk.out).await?;
    first_workspace(&config).await?;
    serve::run(&config, roles).await
}

/// Makes a workspace where there is none, so that there is something to begin with.
async fn first_workspace(config: &Config) -> Result<(), Failure> {
    let commands = Parts::journal_only(config).await?;
    if commands.journal().head().await? > 0 {
        return Ok(());
    }
    let policy =
        PolicyDocument { enabled: ["agent.code.execute".to_owned()].into(), ..PolicyDocument::default() };
    let request = NewWorkspace { name: "workspace".to_owned(), tenant_id: None, policy };
    let made = commands.create_workspace(request).await?;
    note("A workspace was made. The key of its owner is shown this once:\n");
    note(format!("  export OXAGEN_API_KEY={}", made.key.secret));
    note(format!("  export OXAGEN_URL=http://{}\n", config.gateway.listen));
    Ok(())
}

/// The settings with `--listen` on top.
fn with_listen(desk: &Desk, listen: Option<String>) -> Result<Config, Failure> {
    let mut config = desk.configured.config.clone();
    if let Some(listen) = listen {
        let port = listen.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            return Err(Failure::Usage(format!(
                "--listen {listen}: expected host:port, such as 127.0.0.1:15390"
            )));
        }
        config.gateway.listen = listen;
    }
    Ok(config)
}
