//! `agent.code.execute`: input, output and limits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Flaw;

/// Bytes of code at most.
const CODE_LIMIT: usize = 256 * 1024;
/// Bytes of all files together at most.
const FILES_LIMIT: usize = 5 * 1024 * 1024;
/// Bytes of all environment values together at most.
const ENV_LIMIT: usize = 8 * 1024;

/// What runs the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Node.js.
    Node,
    /// Python 3.
    Python,
    /// A POSIX shell.
    Shell,
}

impl Language {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Shell => "shell",
        }
    }
}

/// Whether the run may reach the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nothing outside its container.
    #[default]
    Deny,
    /// What the sandbox's network reaches, where policy permits.
    Allow,
}

/// A file put beside the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeFile {
    /// Relative to the working directory, without `..`.
    #[schemars(length(min = 1, max = 255))]
    pub path: String,
    /// Its text.
    pub content: String,
}

/// Input of `agent.code.execute`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeExecuteInput {
    /// What runs the code.
    #[schemars(with = "String", extend("enum" = ["node", "python", "shell"]))]
    pub language: Language,
    /// The program, at most 256 KiB.
    #[schemars(length(min = 1, max = 262_144))]
    pub code: String,
    /// Files put beside it: at most 64, together at most 5 MiB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub files: Vec<CodeFile>,
    /// What the program reads on its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Environment variables: at most 32, together at most 8 KiB.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Wall clock limit in milliseconds.
    #[serde(default = "default_timeout_ms")]
    #[schemars(range(min = 1000, max = 300_000))]
    pub timeout_ms: u64,
    /// Memory limit in MiB.
    #[serde(default = "default_memory_mb")]
    #[schemars(range(min = 64, max = 2048))]
    pub memory_mb: u64,
    /// Whether the run may reach the network.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["deny", "allow"]))]
    pub network: Network,
}

fn default_timeout_ms() -> u64 {
    30_000
}

fn default_memory_mb() -> u64 {
    512
}

impl CodeExecuteInput {
    /// What the schema cannot say: sizes in bytes and paths that stay inside.
    pub fn flaws(&self) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        let mut limit = |pointer: &str, bytes: usize, limit: usize| {
            if bytes > limit {
                flaws.push(Flaw::new(
                    pointer,
                    format!("at most {limit} bytes are allowed, there are {bytes}"),
                ));
            }
        };
        limit("/code", self.code.len(), CODE_LIMIT);
        limit("/files", self.files.iter().map(|file| file.content.len()).sum(), FILES_LIMIT);
        limit("/env", self.env.iter().map(|(key, value)| key.len() + value.len()).sum(), ENV_LIMIT);
        if self.env.len() > 32 {
            flaws.push(Flaw::new(
                "/env",
                format!("at most 32 variables are allowed, there are {}", self.env.len()),
            ));
        }
        for (index, file) in self.files.iter().enumerate() {
            let outside = file.path.starts_with('/') || file.path.contains('\0');
            if outside || file.path.split('/').any(|part| matches!(part, "" | "." | "..")) {
                let text = "must be a relative path without `.`, `..` or empty parts";
                flaws.push(Flaw::new(&format!("/files/{index}/path"), text.to_owned()));
            }
        }
        flaws
    }
}

/// The limits that a run really had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Wall clock, in milliseconds.
    pub timeout_ms: u64,
    /// Memory, in MiB.
    pub memory_mb: u64,
    /// Processors.
    pub cpus: f64,
    /// Processes and threads.
    pub pids: u64,
    /// Network.
    pub network: Network,
}

/// Output of `agent.code.execute`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeExecuteOutput {
    /// The program's exit code; none when it was killed.
    pub exit_code: Option<i64>,
    /// Its standard output, at most 1 MiB.
    pub stdout: String,
    /// Its standard error, at most 1 MiB.
    pub stderr: String,
    /// Whether either stream was cut.
    pub truncated: bool,
    /// Whether the wall clock limit ended it.
    pub timed_out: bool,
    /// Whether the memory limit ended it.
    pub oom_killed: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The limits in force.
    pub limits: Limits,
    /// Why it ended, when that was not its own doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Without network a run touches nothing outside its container, so it may run again.
pub(super) fn may_rerun(input: &Value) -> bool {
    input.get("network").and_then(Value::as_str) != Some("allow")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_that_leave_the_folder_are_flaws() {
        let input: CodeExecuteInput = serde_json::from_value(json!({
            "language": "shell", "code": "true",
            "files": [{"path": "a/b.txt", "content": ""}, {"path": "../x", "content": ""}, {"path": "/etc/x", "content": ""}],
        }))
        .unwrap();
        let pointers: Vec<_> = input.flaws().into_iter().map(|flaw| flaw.pointer).collect();
        assert_eq!(pointers, ["/files/1/path", "/files/2/path"]);
    }
}
