//! Waiting between attempts, with jitter, so that a server that comes back is not met by everybody at once.

use std::time::Duration;

use rand::Rng;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// The time to wait before attempt number `attempt` (from 0): it doubles, and is drawn from its upper half.
pub(crate) fn delay(attempt: usize) -> Duration {
    let doublings = u32::try_from(attempt).unwrap_or(u32::MAX).min(10);
    let ceiling = (FIRST * 2_u32.pow(doublings)).min(LONGEST);
    ceiling.mul_f64(rand::rng().random_range(0.5..=1.0))
}

/// Counts failed attempts in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: usize,
}

impl Backoff {
    /// Waits longer each time it is called in a row.
    pub(crate) async fn wait(&mut self) {
        let delay = delay(self.failures);
        self.failures = self.failures.saturating_add(1);
        tokio::time::sleep(delay).await;
    }

    /// It worked: the next wait is short again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit() {
        assert!(delay(0) <= FIRST && delay(0) >= FIRST / 2);
        assert!(delay(usize::MAX) <= LONGEST && delay(usize::MAX) >= LONGEST / 2);
    }
}
