//! Takes the migration files into the program: a new file in a store's folder is all that a migration needs.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut code = String::new();
    for store in ["postgres", "clickhouse", "neo4j"] {
        writeln!(code, "pub(crate) const {}: &[(&str, &str)] = &[", store.to_uppercase())?;
        for file in files(&root.join(store))? {
            let name = file.file_name().and_then(|name| name.to_str()).ok_or("a file name is not UTF-8")?;
            // The text and not its path: a target folder may be shared by clones that come and go.
            writeln!(code, "    ({name:?}, {:?}),", fs::read_to_string(&file)?)?;
        }
        writeln!(code, "];")?;
        println!("cargo::rerun-if-changed={store}");
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.rs"), code)?;
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|kind| kind == "sql" || kind == "cypher") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
