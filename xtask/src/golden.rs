//! What outsiders see is kept in files, and compared by a test that links the crates which know it.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;

/// Runs the comparison, or writes the files anew.
pub(crate) fn check(root: &Path, write: bool) -> anyhow::Result<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args(["test", "--quiet", "--workspace", "--test", "golden"]);
    if write {
        cargo.env("UPDATE_GOLDEN", "1");
    }
    ensure!(
        cargo.status()?.success(),
        "the golden files differ; after a wanted change: cargo xtask golden --write"
    );
    Ok(())
}
