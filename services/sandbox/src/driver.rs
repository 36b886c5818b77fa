//! The trait behind which each kind of sandbox stands.

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Chunk, RunOutcome, RunRequest, SandboxError};

/// Tells whether the runner instance of that id still lives. When it cannot be known, the answer is yes: a container
/// too many does less harm than a living runner's container removed.
pub type LivenessCheck<'a> = &'a (dyn Fn(String) -> BoxFuture<'static, bool> + Send + Sync);

/// A place where code can run.
pub trait SandboxDriver: Send + Sync {
    /// Runs one program and returns what became of it. When this returns, nothing of the program runs any more.
    ///
    /// Output goes to `output` while the program runs; a slow or absent reader neither slows the program nor costs
    /// the outcome any text. Cancelling ends the program and gives an outcome with `cancelled`. Dropping the future
    /// ends the program as well.
    ///
    /// # Errors
    /// When the request is refused or the sandbox could not do its part. What a program does is never an error.
    fn run(
        &self,
        request: RunRequest,
        output: mpsc::Sender<Chunk>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<RunOutcome, SandboxError>>;

    /// Removes what dead runners left behind and returns how many containers that were. Those of living runners and
    /// of strangers stay.
    ///
    /// # Errors
    /// When the engine does not answer; what was removed until then stays removed.
    fn reap<'a>(&'a self, is_alive: LivenessCheck<'a>) -> BoxFuture<'a, Result<usize, SandboxError>>;

    /// Takes down the warm pool and waits until the runs under way have ended and cleaned up. Does not end them:
    /// that is what their cancellation tokens are for.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
