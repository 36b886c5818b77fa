//! Containers of the default profile that stand ready, so that a call need not wait for one to start.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::docker::container::{Origin, Profile};
use crate::docker::engine::Engine;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The warm pool, which a task keeps full.
pub(crate) struct Pool {
    ready: Arc<Mutex<mpsc::UnboundedReceiver<Warm>>>,
}

/// A container that nobody used.
pub(crate) struct Warm {
    pub(crate) id: String,
    /// Its place in the pool. The pool makes the next container when this is dropped, which is best done when the
    /// program has started: until then the two would only slow each other down.
    pub(crate) place: OwnedSemaphorePermit,
}

impl Pool {
    /// Starts to fill the pool, until `closing`; then the unused containers are removed.
    pub(crate) fn start(engine: Arc<Engine>, tasks: &TaskTracker, closing: CancellationToken) -> Self {
        let (made, ready) = mpsc::unbounded_channel();
        let ready = Arc::new(Mutex::new(ready));
        let places = Arc::new(Semaphore::new(engine.config.pool_size));
        let rest = Arc::clone(&ready);
        tasks.spawn(async move {
            // Only the waits are broken off: a container half made would be nobody's.
            while let Some(Ok(place)) = closing.run_until_cancelled(Arc::clone(&places).acquire_owned()).await
            {
                let Some(id) = make(&engine, &closing).await else { break };
                if made.send(Warm { id, place }).is_err() {
                    break;
                }
            }
            let mut rest = rest.lock().await;
            rest.close();
            while let Ok(warm) = rest.try_recv() {
                engine.remove(&warm.id).await;
            }
        });
        Self { ready }
    }

    /// A container, if one is ready. It may have died while it waited.
    pub(crate) async fn take(&self) -> Option<Warm> {
        self.ready.lock().await.try_recv().ok()
    }

    /// How many containers are ready.
    pub(crate) async fn len(&self) -> usize {
        self.ready.lock().await.len()
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
