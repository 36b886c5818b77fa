//! The stream is not the only alarm clock: what is unfinished and has made no progress is looked at again.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use oxagen_commands::Context;
use tracing::warn;

use crate::Shared;

/// How often the sweep looks.
const EVERY: Duration = Duration::from_secs(10);
/// No progress for this long asks for a look.
const STALE: TimeDelta = TimeDelta::seconds(20);
/// Executions looked at in one sweep.
const LIMIT: u32 = 100;

/// Looks again at unfinished executions, for ever.
pub(crate) async fn sweep(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let stale = match shared.options.queries.stale_executions(Utc::now() - STALE, LIMIT).await {
            Ok(stale) => stale,
            Err(error) => {
                warn!(%error, "could not look for unfinished executions");
                continue;
            }
        };
        for execution in stale {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let context = |cause| Context::own(execution.scope, "sweep", cause);
                let attended = match (execution.turn, execution.call) {
                    (Some(turn), _) => shared.attend_turn(context(turn.0), turn).await,
                    (None, Some(call)) => shared.attend_call(context(call.0), call).await,
                    (None, None) => return,
                };
                if let Err(error) = attended {
                    warn!(%error, "could not advance what the sweep found");
                }
            });
        }
    }
}
