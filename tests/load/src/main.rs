//! `oxagen-load`: how fast the product is, and whether it stays right under load. It makes an installation of its own on
//! the servers that the environment names and starts real `oxagen serve` processes in it.

mod bench;
mod clock;
mod counter;
mod drive;
mod history;
mod load;
mod machine;
mod memory;
mod paths;
mod report;
mod site;
mod stats;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures Oxagen on real servers.
#[derive(Parser)]
#[command(name = "oxagen-load")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Four tenants with a hundred tool calls each under way, then every store is compared; exit code 1 when something is amiss
    Load {
        /// Seconds under load
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Every figure beside its baseline; writes docs/benchmarks.md and a JSON file
    Bench {
        /// Measure these parts alone; docs/benchmarks.md is then left as it is
        parts: Vec<bench::Part>,
        /// Measure latencies at a journal of so many facts too, after 1,000 and 100,000
        #[arg(long)]
        facts: Option<u64>,
    },
    /// Every role's memory after a tenth of so many calls and after all of them; exit code 1 when it grows by more than a fifth
    Memory {
        /// Calls over HTTP
        #[arg(long, default_value_t = 100_000)]
        calls: u64,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    // Only a second installation can fail, and then one is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ended = match Cli::parse().command {
        Command::Load { seconds } => load::run(seconds).await,
        Command::Bench { parts, facts } => bench::run(&parts, facts).await,
        Command::Memory { calls } => memory::run(calls).await,
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oxagen-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}
