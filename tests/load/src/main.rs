//! `oxagen-load`: how fast the product is, and whether it stays right under load. It makes an installation of its own on
//! the servers that the environment names and starts real `oxagen serve` processes in it.

mod bench;
mod clock;
mod counter;
mod drive;
mod load;
mod machine;
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
        /// Measure only the parts whose names contain this
        #[arg(long, env = "ONLY", default_value = "")]
        only: String,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    // Only a second installation can fail, and then one is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ended = match Cli::parse().command {
        Command::Load { seconds } => load::run(seconds).await,
        Command::Bench { only } => bench::run(&only).await,
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
