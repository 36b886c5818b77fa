//! What the sandbox image must hold: each language's interpreter and the name its program is saved under.
//!
//! One image serves all languages; its name is `SandboxConfig::image`. The driver resolves that name to the image's
//! content id once, when it connects, so that a tag moved later changes nothing under a running runner.

use serde::{Deserialize, Serialize};

/// A language that programs for the sandbox are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// JavaScript, run by `node`.
    Node,
    /// Python 3.
    Python,
    /// POSIX shell.
    Shell,
}

impl Language {
    /// Where the code is saved, relative to the working directory.
    pub(crate) const fn file_name(self) -> &'static str {
        match self {
            Language::Node => "main.js",
            Language::Python => "main.py",
            Language::Shell => "main.sh",
        }
    }

    /// The command that runs the saved code.
    pub(crate) const fn command(self) -> &'static [&'static str] {
        match self {
            Language::Node => &["node", "/work/main.js"],
            // -u: without it Python keeps its output back until it ends, and nobody sees it run.
            Language::Python => &["python3", "-u", "/work/main.py"],
            Language::Shell => &["sh", "/work/main.sh"],
        }
    }
}
