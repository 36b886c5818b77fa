//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::command::{
    deadletters, decide, key, plan, policy, rebuild, replay, serve, settle, tail, turn, verify, workspace,
};
use crate::failure::EXIT_CODES;

const EXAMPLES: &str = "\
Examples:
  oxagen dev                                         everything in one process
  oxagen turn \"Print the first ten primes.\"          talk to the agent; it asks before it runs code
  oxagen approve 01990c5e-… --note \"go ahead\"        answer from another terminal
  oxagen tail --type 'tool_call.*'                   watch what happens, one line a fact
  oxagen replay --conversation 01990c5e-… | jq .type
  oxagen config                                      which settings are in force, and where they come from

Settings come from oxagen.toml < environment < flags; `oxagen config` lists them with their names.";

/// A durable runtime for agents: every fact is an event, every process may be killed, nothing is lost.
#[derive(Debug, Parser)]
#[command(name = "oxagen", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Cli {
    /// Flags that every command has.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command has.
#[derive(Debug, Args)]
#[command(next_help_heading = "For every command")]
pub(crate) struct Global {
    /// Answer in JSON, for programs; refusals too (on stderr)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Read this file instead of ./oxagen.toml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set one setting, such as `--set model.name=gpt-5`
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The gateway to speak to [OXAGEN_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in this process, for one person
    Dev(serve::Dev),
    /// Run some roles in this process; run any number of them
    Serve(serve::Serve),
    /// Bring Postgres, ClickHouse, Neo4j and the streams up to this version
    Migrate(crate::command::migrate::Migrate),
    /// Say something to the agent and see the answer as it comes
    Turn(turn::Turn),
    /// Let a held call run
    Approve(decide::Decide),
    /// Do not let a held call run
    Deny(decide::Decide),
    /// Settle calls whose outcome is unknown
    Settle(settle::Settle),
    /// Show and answer plans
    #[command(subcommand)]
    Plan(plan::Plan),
    /// Follow what happens, one line a fact
    Tail(tail::Tail),
    /// Print history as NDJSON
    Replay(replay::Replay),
    /// See whether every store holds what the journal says it must
    Verify(verify::Verify),
    /// Build a projection again from the journal, while it is in use
    Rebuild(rebuild::Rebuild),
    /// Read, set and ask the workspace's policy
    #[command(subcommand)]
    Policy(policy::Policy),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(key::Key),
    /// Make workspaces
    #[command(subcommand)]
    Workspace(workspace::Workspace),
    /// Look after facts that a reader gave up on
    #[command(subcommand)]
    Deadletters(deadletters::DeadLetters),
    /// Show the settings in force, secrets masked
    Config,
    /// Print a completion script
    #[command(
        after_help = "Examples:\n  source <(oxagen completion bash)\n  oxagen completion fish > ~/.config/fish/completions/oxagen.fish"
    )]
    Completion {
        /// For which shell
        shell: Shell,
    },
}
