//! Waiting: always for a condition, never for a time, and never for ever.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

/// For a machine that is twenty times slower than a desk: it only keeps a broken test from hanging.
pub const PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(50);

/// Asks again until there is an answer; fails saying `what` was missing.
pub async fn until<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = soon(what, check()).await {
            return found;
        }
        assert!(Instant::now() < deadline, "still missing after {PATIENCE:?}: {what}");
        sleep(PAUSE).await;
    }
}

/// Waits for something that must happen; fails saying `what` did not.
pub async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let Ok(output) = timeout(PATIENCE, future).await else { panic!("nothing for {PATIENCE:?}: {what}") };
    output
}
