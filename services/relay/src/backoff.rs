//! Waiting between attempts, with jitter, so that relays do not all come back at the same moment.

use std::time::Duration;

use rand::Rng;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Waits that double from attempt to attempt.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Waits longer each time it is called in a row.
    pub(crate) async fn wait(&mut self) {
        let longest = (FIRST * 2_u32.pow(self.failures.min(10))).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        jittered(longest).await;
    }

    /// It worked: the next wait is short again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// Waits for a time drawn from the upper half of `longest`.
pub(crate) async fn jittered(longest: Duration) {
    let wait = longest.mul_f64(rand::rng().random_range(0.5..=1.0));
    tokio::time::sleep(wait).await;
}
