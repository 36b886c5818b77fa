//! The house's own checks: `cargo xtask rooms`, `cargo xtask sizes`, `cargo xtask golden [--write]`.

mod golden;
mod rooms;
mod sizes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

/// Checks that the compiler does not make.
#[derive(Debug, Parser)]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Does any crate use one that xtask/rooms.txt does not let it use?
    Rooms,
    /// Is any source file over 400 lines?
    Sizes,
    /// Does what outsiders see match the files in tests/golden and docs/capabilities?
    Golden {
        /// Write the files anew; the change is then seen in review
        #[arg(long)]
        write: bool,
    },
}

fn main() -> ExitCode {
    match run(Options::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    let root = root()?;
    match task {
        Task::Rooms => rooms::check(&root),
        Task::Sizes => sizes::check(&root),
        Task::Golden { write } => golden::check(&root, write),
    }
}

/// The project's folder, wherever inside it the command was given.
fn root() -> anyhow::Result<PathBuf> {
    // Asked when it runs: the program may have been compiled by another clone.
    let own = std::env::var("CARGO_MANIFEST_DIR").context("start it as `cargo xtask`")?;
    Ok(Path::new(&own).parent().context("xtask lies in no project")?.to_owned())
}
