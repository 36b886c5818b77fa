//! `oxagen completion`: a script for the shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::Output;

/// Prints the script.
pub(super) fn print(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "oxagen", &mut script);
    Output::new(false).piece(&String::from_utf8_lossy(&script))
}
