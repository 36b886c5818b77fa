//! `agent.code.execute`: a run in the sandbox, its output shown while it runs.

use std::time::Duration;

use fail::fail_point;
use oxagen_commands::StartedCall;
use oxagen_domain::capability::{CodeExecuteInput, CodeExecuteOutput, Language, Limits, Network};
use oxagen_domain::tool_call::CallError;
use oxagen_sandbox::{InputFile, RunOutcome, RunRequest, SandboxError};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::json;
use crate::Shared;
use crate::calls::error;
use crate::live::Frames;

/// Pieces of output that wait to be shown; a slow screen never slows the program.
const PIECES: usize = 256;

impl Shared {
    pub(super) async fn execute_code(
        &self,
        call: &StartedCall,
        frames: Option<&Frames>,
        stop: &CancellationToken,
    ) -> Result<Value, CallError> {
        let input: CodeExecuteInput = serde_json::from_value(call.input.clone())
            .map_err(|cause| error("invalid_input", format!("the arguments do not fit: {cause}")))?;
        let (sender, mut pieces) = mpsc::channel(PIECES);
        let run = self.options.sandbox.run(request(call, input), sender, stop.clone());
        let show = async {
            while let Some(piece) = pieces.recv().await {
                if let Some(frames) = frames {
                    frames.output(call.spec.call_id, piece);
                }
                fail_point!("runner.in_effect", |_| std::process::abort());
            }
        };
        let (outcome, ()) = futures::join!(run, show);
        json(&output(outcome.map_err(failed)?))
    }
}

fn request(call: &StartedCall, input: CodeExecuteInput) -> RunRequest {
    let files =
        input.files.into_iter().map(|file| InputFile { path: file.path, content: file.content.into() });
    RunRequest {
        call_id: call.spec.call_id.0,
        attempt: call.attempt,
        language: match input.language {
            Language::Node => oxagen_sandbox::Language::Node,
            Language::Python => oxagen_sandbox::Language::Python,
            Language::Shell => oxagen_sandbox::Language::Shell,
        },
        code: input.code,
        files: files.collect(),
        stdin: input.stdin,
        env: input.env,
        timeout: Duration::from_millis(input.timeout_ms),
        memory_mib: input.memory_mb,
        network: match input.network {
            Network::Deny => oxagen_sandbox::Network::Deny,
            Network::Allow => oxagen_sandbox::Network::Allow,
        },
    }
}

fn output(outcome: RunOutcome) -> CodeExecuteOutput {
    CodeExecuteOutput {
        exit_code: outcome.exit_code,
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        truncated: outcome.truncated,
        timed_out: outcome.timed_out,
        oom_killed: outcome.oom_killed,
        duration_ms: outcome.duration_ms,
        limits: Limits {
            timeout_ms: outcome.limits.timeout_ms,
            memory_mb: outcome.limits.memory_mb,
            cpus: outcome.limits.cpus,
            pids: outcome.limits.pids.unsigned_abs(),
            network: match outcome.limits.network {
                oxagen_sandbox::Network::Deny => Network::Deny,
                oxagen_sandbox::Network::Allow => Network::Allow,
            },
        },
        reason: outcome.reason,
    }
}

fn failed(cause: SandboxError) -> CallError {
    let after = if cause.may_have_run() { " The program may have run." } else { " The program did not run." };
    error("sandbox_failed", format!("{cause}.{after}"))
}
