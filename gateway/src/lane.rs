//! The way to a database: so many at a time, so many who wait their turn, and nobody beyond that.
//!
//! A pool that is asked for more than it has lets people wait in it, and such a wait ends in an error that looks as if
//! the database were away, perhaps after half of the work was done. So requests wait here instead, in the order in
//! which they came; who finds the queue full, or waits too long in it, is told so before anything was done.

use std::future::Future;
use std::ops::Deref;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::error::{Problem, TOO_MANY_REQUESTS};

/// Seconds after which one who was turned away may come again.
const RETRY_AFTER: u64 = 1;
/// The longest wait for a sign of life from a database that lets everybody wait.
const LIFE: Duration = Duration::from_secs(1);

/// The way to one database.
pub(crate) struct Lane {
    slots: Semaphore,
    places: Semaphore,
    queue: usize,
    patience: Duration,
}

/// Somebody's turn: what they came for, for as long as they hold it.
pub(crate) struct Turn<'a, T> {
    what: &'a T,
    _slot: SemaphorePermit<'a>,
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.what
    }
}

impl Lane {
    /// `at_once` have their turn at a time, `queue` more wait, nobody for longer than `patience`.
    pub(crate) fn new(at_once: usize, queue: usize, patience: Duration) -> Self {
        Self { slots: Semaphore::new(at_once.max(1)), places: Semaphore::new(queue), queue, patience }
    }

    /// Waits for a turn with `what`. Who has waited in vain asks for a sign of life: a database that is busy is
    /// another thing than one that is away.
    pub(crate) async fn turn<'a, T, E>(
        &'a self,
        what: &'a T,
        life: impl Future<Output = Result<(), E>>,
    ) -> Result<Turn<'a, T>, Problem> {
        // A slot that becomes free goes to who waits the longest, so this overtakes nobody.
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(Turn { what, _slot: slot });
        }
        let _place = self.places.try_acquire().map_err(|_| {
            let text = format!(
                "{} requests wait for their turn already, so nothing of this one was done: send it again later",
                self.queue
            );
            refused(text)
        })?;
        match timeout(self.patience, self.slots.acquire()).await {
            Ok(Ok(slot)) => Ok(Turn { what, _slot: slot }),
            Ok(Err(_)) | Err(_) => {
                if !matches!(timeout(LIFE, life).await, Ok(Ok(()))) {
                    return Err(Problem::unavailable(
                        "the database does not answer now, and nothing of this request was done: try again in a moment",
                    ));
                }
                let text = format!(
                    "its turn did not come within {} s, so nothing of this request was done: send it again later",
                    self.patience.as_secs()
                );
                Err(refused(text))
            }
        }
    }
}

fn refused(text: String) -> Problem {
    Problem::new(TOO_MANY_REQUESTS, text).retry_after(RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, pending, ready};

    use futures::FutureExt;

    use super::*;

    fn alive() -> Ready<Result<(), ()>> {
        ready(Ok(()))
    }

    fn refusal<T>(turn: Result<Turn<'_, T>, Problem>) -> &'static str {
        turn.err().unwrap().code()
    }

    #[tokio::test]
    async fn who_comes_when_all_turns_are_taken_waits_and_who_finds_the_queue_full_is_turned_away() {
        let lane = Lane::new(1, 1, Duration::from_secs(60));
        let first = lane.turn(&'a', alive()).await.unwrap();
        let mut second = Box::pin(lane.turn(&'b', alive()));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(refusal(lane.turn(&'c', alive()).await), "too_many_requests");
        drop(first);
        assert_eq!(*second.await.unwrap(), 'b');
        assert_eq!(*lane.turn(&'d', alive()).await.unwrap(), 'd');
    }

    #[tokio::test]
    async fn nobody_waits_for_ever_and_a_busy_database_is_told_from_one_that_is_away() {
        let lane = Lane::new(1, 1, Duration::from_millis(1));
        let _first = lane.turn(&'a', alive()).await.unwrap();
        assert_eq!(refusal(lane.turn(&'b', alive()).await), "too_many_requests");
        assert_eq!(refusal(lane.turn(&'b', ready(Err(()))).await), "unavailable");
        assert_eq!(refusal(lane.turn(&'b', pending::<Result<(), ()>>()).await), "unavailable");
    }
}
