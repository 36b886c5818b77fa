//! Giving facts to the store, whatever the store says.

use std::time::Duration;

use chrono::Utc;
use fail::fail_point;
use oxagen_domain::Fact;
use oxagen_journal::DeadLetter;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::Projector;
use super::backoff::Backoff;
use crate::store::{Batch, Store, StoreError};

/// Attempts of a fact that is refused alone.
const ATTEMPTS: u32 = 5;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(100);
/// Most dead letters that are counted.
const COUNT: u32 = 1_000;

impl<S: Store> Projector<S> {
    /// Takes facts in and gives the cursor after them. A batch that is refused is halved until the fact that is to
    /// blame is alone, so that no other is lost with it.
    pub(super) async fn take_in(&self, active: &CancellationToken, facts: &[Fact], from: u64) -> Option<u64> {
        let mut cursor = from;
        let mut parts = vec![facts];
        while let Some(part) = parts.pop() {
            let Some(last) = part.last() else { continue };
            match self.apply(active, Batch { from: cursor, facts: part, to: last.seq }).await? {
                Ok(()) => cursor = last.seq,
                Err(_) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(cause) => cursor = self.insist(active, last, cursor, cause).await?,
            }
        }
        Some(cursor)
    }

    /// Tries a refused fact again, then gives up on it.
    async fn insist(
        &self,
        active: &CancellationToken,
        fact: &Fact,
        from: u64,
        refusal: String,
    ) -> Option<u64> {
        let mut cause = refusal;
        for attempt in 1..ATTEMPTS {
            warn!(seq = fact.seq, kind = fact.kind, attempt, cause, "a fact was refused");
            active.run_until_cancelled(tokio::time::sleep(PAUSE)).await?;
            let batch = Batch { from, facts: std::slice::from_ref(fact), to: fact.seq };
            match self.apply(active, batch).await? {
                Ok(()) => return Some(fact.seq),
                Err(again) => cause = again,
            }
        }
        self.give_up(active, from, fact.seq, &cause).await
    }

    /// Puts a fact among the dead letters and moves the cursor over it.
    pub(super) async fn give_up(
        &self,
        active: &CancellationToken,
        from: u64,
        seq: u64,
        cause: &str,
    ) -> Option<u64> {
        error!(seq, cause, "gave up on a fact; it lies among the dead letters");
        let (reader, now) = (self.reader(), Utc::now());
        let error = cause.to_owned();
        let letter = DeadLetter { reader, seq, error, attempts: ATTEMPTS, first_at: now, last_at: now };
        let mut backoff = Backoff::default();
        while let Err(error) = self.journal.dead_letters().bury(&letter).await {
            warn!(%error, "cannot keep a dead letter, trying again");
            active.run_until_cancelled(backoff.wait()).await?;
        }
        while let Err(cause) = self.apply(active, Batch { from, facts: &[], to: seq }).await? {
            warn!(seq, cause, "cannot move the cursor over a dead letter, trying again");
            active.run_until_cancelled(backoff.wait()).await?;
        }
        self.count_dead_letters().await;
        Some(seq)
    }

    /// Gives a batch to the store, through every outage. `None` when this projector is not the active one any more,
    /// an error when the store refuses something in the batch.
    async fn apply(&self, active: &CancellationToken, batch: Batch<'_>) -> Option<Result<(), String>> {
        let mut backoff = Backoff::default();
        loop {
            // Never dropped half way: it takes a bounded time, and a store may roll back badly when it is.
            match self.store.apply(batch).await {
                Ok(()) => {
                    fail_point!("projector.committed", |_| std::process::abort());
                    self.report.is_at(batch.to);
                    self.report.has_trouble(None);
                    return Some(Ok(()));
                }
                Err(StoreError::Refused { cause, .. }) => return Some(Err(cause)),
                Err(error @ StoreError::Unavailable { .. }) => {
                    self.wait_out(active, &mut backoff, &error).await?
                }
                Err(error @ StoreError::CursorMoved { .. }) => {
                    warn!(%error, "standing by");
                    return None;
                }
            }
        }
    }

    /// Counts this projector's dead letters; what is not known stays as it was.
    pub(super) async fn count_dead_letters(&self) {
        if let Ok(letters) = self.journal.dead_letters().list(Some(&self.reader()), COUNT).await {
            self.report.has_dead_letters(letters.len() as u64);
        }
    }
}
