//! `oxagen`: one program, every role of the runtime by subcommand, and the commands that people and scripts use.

mod cli;
mod client;
mod command;
mod config;
mod failure;
mod output;
mod progress;
mod serve;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::note;

/// Facts are read on one thread and let go of on another, which costs the system's own allocator a third of a
/// projector's time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How this program names itself to servers.
pub(crate) const PROGRAM: &str = concat!("oxagen/", env!("CARGO_PKG_VERSION"));

fn main() -> ExitCode {
    // Before anything opens a TLS connection; only a second installation can fail, and then one is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    #[cfg(feature = "failpoints")]
    let _places = fail::FailScenario::setup();
    let cli = Cli::parse();
    let as_json = cli.global.json;
    let ended = run(cli);
    let Err(failure) = ended else { return ExitCode::SUCCESS };
    if let Some(text) = failure.text(as_json) {
        note(text);
    }
    failure.exit()
}

fn run(cli: Cli) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("the runtime cannot start: {error}")))?;
    let ended = runtime.block_on(command::run(cli));
    // A question that nobody answered may still wait on the terminal; it must not hold up the end.
    runtime.shutdown_background();
    ended
}
