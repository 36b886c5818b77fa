//! Where results are written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a result as JSON into `.stack/results`, and tells where.
pub(crate) fn keep(name: &str, result: &Value) -> anyhow::Result<()> {
    let folder = root().join(".stack/results");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.canonicalize()?.join(name);
    fs::write(&path, format!("{result:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}
