//! What a run gives back: pieces of output on the way, the outcome at the end.

use serde::{Deserialize, Serialize};

use crate::Network;

/// One of a program's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A piece of output on its way to a screen. A channel's pieces joined in order are exactly that channel's text in
/// the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// Where it was written to.
    pub channel: Channel,
    /// The text, free of NUL.
    pub text: String,
    /// UTF-8 bytes of the channel's text before this piece.
    pub offset: u64,
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// The program's exit code; none if it was stopped by the sandbox.
    pub exit_code: Option<i64>,
    /// Standard output, invalid UTF-8 and NUL replaced by U+FFFD, capped.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Whether either stream was cut at its cap.
    pub truncated: bool,
    /// Whether the wall clock ended the program.
    pub timed_out: bool,
    /// Whether the memory limit killed one of the program's processes.
    pub oom_killed: bool,
    /// Whether the caller ended the program.
    pub cancelled: bool,
    /// Milliseconds from the program's start to its end, without the sandbox's own preparations.
    pub duration_ms: u64,
    /// Which limit the program met, for people; none if it met none.
    pub reason: Option<String>,
    /// The limits that were in force.
    pub limits: EffectiveLimits,
}

/// The limits a program ran under.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveLimits {
    /// Wall clock in milliseconds.
    pub timeout_ms: u64,
    /// Memory in MiB, with no swap beside it.
    pub memory_mb: u64,
    /// CPUs.
    pub cpus: f64,
    /// Processes and threads at once.
    pub pids: i64,
    /// Whether the program had a network.
    pub network: Network,
}
