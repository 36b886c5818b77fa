//! Gives the form of snapshots its name: a digest over the domain's sources, for a state is only as good as the code
//! that made it.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let domain = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../domain/src");
    let mut files = Vec::new();
    gather(&domain, &mut files)?;
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        hash.update(fs::read(file)?);
        hash.update([0]);
    }
    let form: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=OXAGEN_DOMAIN_FORM={form}");
    println!("cargo::rerun-if-changed={}", domain.display());
    Ok(())
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { gather(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
