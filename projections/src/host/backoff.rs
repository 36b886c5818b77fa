//! Waiting between attempts, longer each time, with jitter.

use std::time::Duration;

use rand::Rng;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Counts failed attempts in a row.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Waits: 50 ms, then twice as long each time up to 2 s, drawn from the upper half.
    pub(super) async fn wait(&mut self) {
        let ceiling = (FIRST * 2_u32.pow(self.failures.min(10))).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let delay = ceiling.mul_f64(rand::rng().random_range(0.5..=1.0));
        tokio::time::sleep(delay).await;
    }
}
