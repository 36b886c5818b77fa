//! What the words of the command line do.

mod completion;
mod config;
pub(crate) mod deadletters;
pub(crate) mod decide;
pub(crate) mod key;
pub(crate) mod migrate;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod rebuild;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod settle;
pub(crate) mod tail;
pub(crate) mod turn;
pub(crate) mod verify;
pub(crate) mod workspace;

use oxagen_commands::{Code, CommandError};
use oxagen_domain::Decision;

use crate::cli::{Cli, Command, Global};
use crate::client::Client;
use crate::config::{ConfigError, Configured, Sources};
use crate::failure::Failure;
use crate::output::Output;

/// What every command works with.
pub(crate) struct Desk {
    /// The settings.
    pub(crate) configured: Configured,
    /// Where answers go.
    pub(crate) out: Output,
}

impl Desk {
    /// A client of the configured gateway.
    fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.configured.config)
    }
}

/// Does what the command line says.
pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    if let Command::Completion { shell } = cli.command {
        return completion::print(shell);
    }
    let desk = Desk { configured: sources(&cli.global)?.load()?, out: Output::new(cli.global.json) };
    match cli.command {
        Command::Dev(dev) => serve::dev(&desk, dev).await,
        Command::Serve(serve) => serve::serve(&desk, serve).await,
        Command::Migrate(migrate) => migrate::migrate(&desk, &migrate).await,
        Command::Turn(turn) => turn::turn(&desk, turn).await,
        Command::Approve(decide) => decide::decide(&desk, Decision::Approve, decide).await,
        Command::Deny(decide) => decide::decide(&desk, Decision::Deny, decide).await,
        Command::Tail(tail) => tail::tail(&desk, tail).await,
        Command::Replay(replay) => replay::replay(&desk, replay).await,
        Command::Verify(verify) => verify::verify(&desk, verify).await,
        Command::Rebuild(rebuild) => rebuild::rebuild(&desk, rebuild).await,
        Command::Settle(settle) => settle::settle(&desk, settle).await,
        Command::Plan(plan) => plan::plan(&desk, plan).await,
        Command::Policy(policy) => policy::policy(&desk, policy).await,
        Command::Key(key) => key::key(&desk, key).await,
        Command::Workspace(workspace) => workspace::workspace(&desk, workspace).await,
        Command::Deadletters(letters) => deadletters::deadletters(&desk, letters).await,
        Command::Config => config::print(&desk),
        Command::Completion { .. } => Ok(()),
    }
}

fn sources(global: &Global) -> Result<Sources, ConfigError> {
    let mut flags = Vec::new();
    if let Some(url) = &global.url {
        flags.push(("client.url".to_owned(), url.clone()));
    }
    for text in &global.set {
        let Some((key, value)) = text.split_once('=') else {
            return Err(ConfigError::Flag { text: text.clone() });
        };
        flags.push((key.trim().to_owned(), value.to_owned()));
    }
    let readable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    let environment = std::env::vars_os().filter_map(readable).collect();
    Ok(Sources { file: global.config.clone(), environment, flags })
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let cause = error.cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
        let text = format!("{}{cause}", error.message);
        match error.code {
            Code::Unavailable => Self::Unreachable(text),
            Code::NotFound => Self::NotFound(text),
            Code::InvalidInput
            | Code::Forbidden
            | Code::Conflict
            | Code::ConversationBusy
            | Code::ConversationArchived
            | Code::TurnEnded
            | Code::CallEnded
            | Code::ApprovalClosed
            | Code::PlanClosed
            | Code::IdempotencyKeyReused
            | Code::UnknownCapability
            | Code::DeniedByPolicy
            | Code::TooLarge
            | Code::Internal => Self::Failed(text),
        }
    }
}
