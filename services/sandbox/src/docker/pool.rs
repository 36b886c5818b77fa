//! Containers of the default profile that stand ready, so that a call need not wait for one to start.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::docker::container::{Origin, Profile};
use crate::docker::engine::Engine;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The warm pool: a bounded queue of container ids, which a task keeps full.
pub(crate) struct Pool {
    ready: Option<Arc<Mutex<mpsc::Receiver<String>>>>,
}

impl Pool {
    /// Starts to fill the pool, until `closing`; then the unused containers are removed.
    pub(crate) fn start(engine: Arc<Engine>, tasks: &TaskTracker, closing: CancellationToken) -> Self {
        if engine.config.pool_size == 0 {
            return Self { ready: None };
        }
        let (made, ready) = mpsc::channel(engine.config.pool_size);
        let ready = Arc::new(Mutex::new(ready));
        let rest = Arc::clone(&ready);
        tasks.spawn(async move {
            // Only the wait between two containers is broken off: a container half made would be nobody's.
            while let Some(Ok(place)) = closing.run_until_cancelled(made.reserve()).await {
                let Some(id) = make(&engine, &closing).await else { break };
                place.send(id);
            }
            let mut rest = rest.lock().await;
            rest.close();
            while let Ok(id) = rest.try_recv() {
                engine.remove(&id).await;
            }
        });
        Self { ready: Some(ready) }
    }

    /// A container that nobody used, if one is ready. It may have died while it waited.
    pub(crate) async fn take(&self) -> Option<String> {
        self.ready.as_ref()?.lock().await.try_recv().ok()
    }
}

/// Makes one container, however long the engine fails at it; none when closing.
async fn make(engine: &Engine, closing: &CancellationToken) -> Option<String> {
    let mut pause = FIRST_PAUSE;
    loop {
        let name = format!("oxagen-warm-{}", Uuid::now_v7());
        match engine.create(&name, Profile::DEFAULT, Origin::Warm).await {
            Ok(id) => return Some(id),
            Err(error) => tracing::warn!(%error, "no container for the warm pool, calls start cold"),
        }
        closing.run_until_cancelled(tokio::time::sleep(pause)).await?;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}
