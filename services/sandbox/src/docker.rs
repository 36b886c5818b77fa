//! The sandbox driver that speaks to a Docker engine.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::{Chunk, LivenessCheck, RunOutcome, RunRequest, SandboxConfig, SandboxDriver, SandboxError};

mod container;
mod engine;
mod pool;
mod program;
mod reap;
mod run;

pub use container::{INSTALLATION_LABEL, POOL_LABEL, RUNNER_LABEL};

use engine::Engine;
use pool::Pool;
use run::Runs;

/// Runs programs in containers of a Docker engine.
pub struct DockerSandbox {
    engine: Arc<Engine>,
    runs: Arc<Runs>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl DockerSandbox {
    /// Connects to the engine, makes sure that the image is there and begins to fill the warm pool.
    ///
    /// # Errors
    /// When the engine does not answer or does not have the image.
    pub async fn connect(config: SandboxConfig) -> Result<Self, SandboxError> {
        let tasks = TaskTracker::new();
        let closing = CancellationToken::new();
        let engine = Arc::new(Engine::connect(config, tasks.clone()).await?);
        let pool = Pool::start(Arc::clone(&engine), &tasks, closing.clone());
        let runs = Arc::new(Runs::new(Arc::clone(&engine), pool));
        Ok(Self { engine, runs, tasks, closing })
    }

    /// How many containers of the warm pool are ready now.
    pub async fn warm(&self) -> usize {
        self.runs.warm().await
    }
}

impl SandboxDriver for DockerSandbox {
    fn run(
        &self,
        request: RunRequest,
        output: mpsc::Sender<Chunk>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<RunOutcome, SandboxError>> {
        Box::pin(async move {
            request.check()?;
            // The run is a task of its own: a caller who goes away cancels it, and it still cleans up after itself.
            let cancel = cancel.child_token();
            let _abandoned = cancel.clone().drop_guard();
            let span =
                tracing::info_span!("sandbox run", call_id = %request.call_id, attempt = request.attempt);
            let run = Arc::clone(&self.runs).run(request, output, cancel);
            self.tasks.spawn(run.instrument(span)).await?
        })
    }

    fn reap<'a>(&'a self, is_alive: LivenessCheck<'a>) -> BoxFuture<'a, Result<usize, SandboxError>> {
        Box::pin(reap::reap(&self.engine, is_alive))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.closing.cancel();
            self.tasks.close();
            self.tasks.wait().await;
        })
    }
}

impl Drop for DockerSandbox {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
