//! A file that nobody can read in one go is two files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// Lines that a source file has at most.
const LIMIT: usize = 400;
const SOURCES: &[&str] = &["rs", "py", "java", "sql", "cypher"];
/// Folders whose files nobody here wrote.
const FOREIGN: &[&str] = &["target", "node_modules"];

/// Refuses source files over the limit and tells the median.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    let mut lines =
        files.into_iter().map(|path| Ok((count(&path)?, path))).collect::<anyhow::Result<Vec<_>>>()?;
    lines.sort();
    let over: Vec<_> = lines
        .iter()
        .filter(|(count, _)| *count > LIMIT)
        .map(|(count, path)| format!("  {count} {}", path.strip_prefix(root).unwrap_or(path).display()))
        .collect();
    ensure!(over.is_empty(), "over {LIMIT} lines; cut along what changes together:\n{}", over.join("\n"));
    let median = lines.get(lines.len() / 2).map_or(0, |(count, _)| *count);
    println!("sizes: {} source files, median {median} lines, none over {LIMIT}", lines.len());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_string_lossy().starts_with('.');
        if entry.file_type()?.is_dir() {
            if !hidden && !FOREIGN.iter().any(|foreign| name == *foreign) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| SOURCES.iter().any(|source| extension == *source))
        {
            files.push(path);
        }
    }
    Ok(())
}

fn count(path: &Path) -> anyhow::Result<usize> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().count())
}
