//! Clears away what runners left behind that were killed.

use std::collections::HashMap;

use crate::docker::engine::Engine;
use crate::{LivenessCheck, SandboxError};

/// Removes the containers whose label names a runner that is not alive; returns how many.
pub(crate) async fn reap(engine: &Engine, is_alive: LivenessCheck<'_>) -> Result<usize, SandboxError> {
    let mut alive = HashMap::from([(engine.config.runner_id.clone(), true)]);
    let mut removed = 0;
    for (container, runner) in engine.owned().await? {
        let lives = match alive.get(&runner) {
            Some(known) => *known,
            None => is_alive(runner.clone()).await,
        };
        if !lives {
            tracing::info!(container, runner, "removing a dead runner's sandbox container");
            engine.try_remove(&container).await?;
            removed += 1;
        }
        alive.insert(runner, lives);
    }
    Ok(removed)
}
