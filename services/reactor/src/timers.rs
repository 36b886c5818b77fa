//! The timers: rows that say when something is due. Ringing twice changes nothing, so every reactor may ring.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use oxagen_projections::Due;
use tracing::warn;

use crate::ReactorOptions;

/// How often due timers are looked for.
const EVERY: Duration = Duration::from_secs(1);
/// Timers rung in one look.
const LIMIT: u32 = 200;

/// Rings what is due, for ever.
pub(crate) async fn run(options: Arc<ReactorOptions>) {
    loop {
        // Not all reactors at the same moment.
        tokio::time::sleep(EVERY.mul_f64(rand::random_range(0.8..1.2))).await;
        let due = match options.queries.due_timers(Utc::now(), LIMIT).await {
            Ok(due) => due,
            Err(error) => {
                warn!(%error, "could not look for due timers");
                continue;
            }
        };
        for timer in due {
            let rung = match timer.due {
                Due::ApprovalExpiry(approval) => {
                    options.commands.expire_approval(timer.scope, approval).await
                }
                Due::PlanExpiry(plan) => options.commands.expire_plan(timer.scope, plan).await,
            };
            if let Err(error) = rung {
                warn!(due = ?timer.due, %error, "could not close what is due");
            }
        }
    }
}
