//! What a caller asks for, and what is refused before anything starts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Language;

/// The most files a run may bring.
pub const MAX_FILES: usize = 64;
/// The most bytes all files of a run may have together: 5 MiB.
pub const MAX_FILES_BYTES: usize = 5 << 20;
const MAX_PATH_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 255;

/// Whether a program reaches a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// It has none.
    #[default]
    Deny,
    /// It joins the network that `SandboxConfig::network` names.
    Allow,
}

/// A file that lies beside the program when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Relative to the working directory, with `/` between names; folders are made.
    pub path: String,
    /// What is in it.
    pub content: Bytes,
}

/// One program to run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The call it belongs to; names the container.
    pub call_id: Uuid,
    /// Which attempt of the call this is, from 1.
    pub attempt: u32,
    /// What the code is written in.
    pub language: Language,
    /// The program.
    pub code: String,
    /// Files beside it: at most [`MAX_FILES`], at most [`MAX_FILES_BYTES`] together.
    pub files: Vec<InputFile>,
    /// What the program reads on standard input; none is an empty one.
    pub stdin: Option<String>,
    /// Variables added to the image's own environment. Nothing of the host's enters.
    pub env: BTreeMap<String, String>,
    /// Wall clock from the program's start.
    pub timeout: Duration,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Whether it reaches a network.
    pub network: Network,
}

/// Why a request was refused; nothing has started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedRequest {
    /// Too many files.
    #[error("{count} files are too many: a run may bring {MAX_FILES}")]
    TooManyFiles {
        /// How many there were.
        count: usize,
    },
    /// The files are too big together.
    #[error("the files have {bytes} bytes together: a run may bring {MAX_FILES_BYTES}")]
    FilesTooLarge {
        /// How big they are together.
        bytes: usize,
    },
    /// A path that could lead out of the working directory, or cannot exist there.
    #[error("the file path {path:?} is refused: {problem}")]
    BadPath {
        /// The path as given.
        path: String,
        /// What is wrong with it and what to do.
        problem: &'static str,
    },
    /// A variable that no process could be given.
    #[error("the variable {name:?} is refused: {problem}")]
    BadVariable {
        /// Its name as given.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl RunRequest {
    /// Refuses what must not reach a container: file paths that are absolute, climb out or clash, files over the
    /// limits, variables no process could have.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), RefusedRequest> {
        if self.files.len() > MAX_FILES {
            return Err(RefusedRequest::TooManyFiles { count: self.files.len() });
        }
        let bytes = self.files.iter().map(|file| file.content.len()).sum();
        if bytes > MAX_FILES_BYTES {
            return Err(RefusedRequest::FilesTooLarge { bytes });
        }
        let mut taken = BTreeSet::from([self.language.file_name()]);
        for InputFile { path, .. } in &self.files {
            let refuse = |problem| Err(RefusedRequest::BadPath { path: path.clone(), problem });
            if let Some(problem) = path_problem(path) {
                return refuse(problem);
            }
            if path == self.language.file_name() {
                return refuse("the program itself is saved under that name; choose another");
            }
            if !taken.insert(path) {
                return refuse("two files have it; give each its own");
            }
        }
        if let Some(path) = taken.iter().find(|path| is_also_folder(path, &taken)) {
            let problem = "another path needs it as a folder; rename one of them";
            return Err(RefusedRequest::BadPath { path: (*path).to_owned(), problem });
        }
        self.env.iter().try_for_each(|(name, value)| check_variable(name, value))
    }
}

fn path_problem(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        Some("it is empty; give the file a name")
    } else if path.starts_with('/') {
        Some("it is absolute; write it relative to the working directory")
    } else if path.contains(char::is_control) {
        Some("it has a control character; leave it out")
    } else if path.len() > MAX_PATH_BYTES || path.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
        Some("it is too long: 1024 bytes in all, 255 bytes each name")
    } else if path.split('/').any(|name| name == "..") {
        Some("it climbs with `..`; files stay inside the working directory")
    } else if path.split('/').any(|name| matches!(name, "" | ".")) {
        Some("it has an empty name or `.` between slashes; write each folder once")
    } else {
        None
    }
}

fn is_also_folder(path: &str, taken: &BTreeSet<&str>) -> bool {
    let folder = format!("{path}/");
    taken.range(folder.as_str()..).next().is_some_and(|next| next.starts_with(&folder))
}

fn check_variable(name: &str, value: &str) -> Result<(), RefusedRequest> {
    let problem = if name.is_empty() {
        "its name is empty"
    } else if name.contains(['=', '\0']) {
        "its name has `=` or NUL in it"
    } else if value.contains('\0') {
        "its value has NUL in it"
    } else {
        return Ok(());
    };
    Err(RefusedRequest::BadVariable { name: name.to_owned(), problem })
}

#[cfg(test)]
mod tests;
