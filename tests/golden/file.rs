//! A checked-in file against what it should say.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Compares a file, or writes it when `UPDATE_GOLDEN` is set.
pub(crate) fn same(path: &str, wanted: &str) {
    let whole = root().join(path);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(whole.parent().unwrap()).unwrap();
        fs::write(&whole, wanted).unwrap();
        return;
    }
    let found = fs::read_to_string(&whole).unwrap_or_default();
    if let Some(difference) = first_difference(&found, wanted) {
        panic!(
            "{path} is not what this build shows to outsiders; if that is wanted: cargo xtask golden --write\n{difference}"
        );
    }
}

/// Compares a folder of Markdown files by name; none may be left over.
pub(crate) fn same_folder(folder: &str, wanted: &[(String, String)]) {
    for (name, text) in wanted {
        same(&format!("{folder}/{name}"), text);
    }
    let names: BTreeSet<_> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    for file in fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap()) {
        let name = file.file_name().into_string().unwrap();
        if !names.contains(name.as_str()) {
            assert!(env::var_os("UPDATE_GOLDEN").is_some(), "{folder}/{name} belongs to nothing: remove it");
            fs::remove_file(file.path()).unwrap();
        }
    }
}

fn first_difference(found: &str, wanted: &str) -> Option<String> {
    let (mut found, mut wanted) = (found.lines(), wanted.lines());
    for number in 1.. {
        match (found.next(), wanted.next()) {
            (None, None) => break,
            (has, wants) if has == wants => {}
            (has, wants) => {
                let show = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Some(format!("line {number}\n  file:  {}\n  build: {}", show(has), show(wants)));
            }
        }
    }
    None
}
