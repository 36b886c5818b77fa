//! Running one attempt of a call: the check before the effect, the effect, the commit after it.

use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use oxagen_commands::{CallEnd, Code, CommandError, Context, Known, StartedCall};
use oxagen_domain::Digest;
use oxagen_domain::tool_call::CallError;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};

use crate::Shared;
use crate::live::Frames;

/// Where a call runs: on whose behalf, and where its output is shown.
pub(crate) struct Where {
    pub(crate) context: Context,
    pub(crate) known: Known,
    pub(crate) frames: Option<Frames>,
}

/// An attempt that may run now.
pub(crate) struct Running {
    pub(crate) started: StartedCall,
    pub(crate) place: Where,
    pub(crate) stop: CancellationToken,
}

impl Shared {
    /// Runs an attempt to its end and commits that. A cancelled attempt commits nothing: its turn does.
    pub(crate) async fn run_call(self: &Arc<Self>, running: Running) -> Result<(), CommandError> {
        let Running { started, place, stop } = running;
        let (call, attempt) = (started.spec.call_id, started.attempt);
        let result = if Digest::of_canonical(&started.input) == started.spec.input_digest {
            let span = info_span!("execute_tool", %call, attempt, capability = %started.spec.capability);
            self.use_tool(&started, place.frames.as_ref(), &stop).instrument(span).await
        } else {
            Err(error(
                "input_changed",
                "the stored arguments are not those that were judged: the call did not run",
            ))
        };
        if stop.is_cancelled() {
            return Ok(());
        }
        fail_point!("runner.effect_done", |_| std::process::abort());
        self.record(CallEnd { call, attempt, context: place.context, known: place.known }, result).await
    }

    /// The effect has happened: this goes on until the ledger says so or somebody else's word counts.
    async fn record(&self, end: CallEnd, result: Result<Value, CallError>) -> Result<(), CommandError> {
        let (call, attempt) = (end.call, end.attempt);
        let mut wait = Duration::from_millis(100);
        loop {
            match self.options.commands.finish_call(&end, result.clone()).await {
                Err(error) if error.fenced || error.code == Code::CallEnded => {
                    info!(%call, attempt, %error, "the result of this attempt came too late");
                    return Ok(());
                }
                Err(error) if error.code == Code::Unavailable => {
                    warn!(%call, attempt, %error, "the result is not recorded yet, trying again");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(Duration::from_secs(2));
                }
                done => return done,
            }
        }
    }
}

/// A call's error.
pub(crate) fn error(code: &str, message: impl Into<String>) -> CallError {
    CallError { code: code.to_owned(), message: message.into(), flaws: vec![] }
}
