//! Where the facts come from: the stream, and the journal for what the stream does not have.

use std::time::Duration;

use oxagen_domain::Fact;
use oxagen_jetstream::follow::{self, Delivery, Follow};
use oxagen_journal::JournalError;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::Projector;
use super::backoff::Backoff;
use crate::pages::{Page, Pages};
use crate::store::{Store, StoreError};

/// Who is further behind reads the journal first.
const FAR: u64 = 10_000;
/// How often the dead letters are counted again, so that mended ones are noticed.
const RECOUNT: Duration = Duration::from_secs(5);

impl<S: Store> Projector<S> {
    /// Projects until it is no longer active.
    pub(super) async fn project(&self, active: &CancellationToken) -> Option<()> {
        self.prepare(active).await?;
        let mut cursor = self.read_cursor(active).await?;
        self.report.is_at(cursor);
        let head = self.read_head(active).await?;
        if head < cursor {
            self.refuse(active, cursor, head).await;
            return None;
        }
        if head > cursor + FAR {
            cursor = self.catch_up(active, cursor, head).await?;
        }
        let mut follow = follow::facts(&self.bus, &self.reader(), cursor, &[]);
        let mut counted = None;
        loop {
            if counted.is_none_or(|at: Instant| at.elapsed() > RECOUNT && self.report.dead_letters() > 0) {
                self.count_dead_letters().await;
                counted = Some(Instant::now());
            }
            let (facts, jump) =
                active.run_until_cancelled(gather(&mut follow, self.options.linger, S::BATCH)).await?;
            cursor = self.take_in(active, &facts, cursor).await?;
            self.report.is_behind(follow.behind());
            if let Some(next) = jump {
                info!(cursor, next, "the stream lacks facts, reading them from the journal");
                cursor = self.catch_up(active, cursor, next.saturating_sub(1)).await?;
                follow.seek(cursor);
            }
        }
    }

    async fn prepare(&self, active: &CancellationToken) -> Option<()> {
        let mut backoff = Backoff::default();
        loop {
            match self.store.prepare().await {
                Ok(()) => {
                    self.report.has_trouble(None);
                    return Some(());
                }
                Err(error) => self.wait_out(active, &mut backoff, &error).await?,
            }
        }
    }

    async fn read_cursor(&self, active: &CancellationToken) -> Option<u64> {
        let mut backoff = Backoff::default();
        loop {
            match self.store.cursor().await {
                Ok(cursor) => {
                    self.report.has_trouble(None);
                    return Some(cursor);
                }
                Err(error) => self.wait_out(active, &mut backoff, &error).await?,
            }
        }
    }

    async fn read_head(&self, active: &CancellationToken) -> Option<u64> {
        let mut backoff = Backoff::default();
        loop {
            match self.journal.head().await {
                Ok(head) => {
                    self.report.has_trouble(None);
                    return Some(head);
                }
                Err(error) => self.wait_for_journal(active, &mut backoff, &error).await?,
            }
        }
    }

    /// The journal was restored or replaced, and the cursor counts facts of another history. Going on would leave
    /// out the facts up to it and say nothing.
    async fn refuse(&self, active: &CancellationToken, cursor: u64, head: u64) {
        let trouble = format!(
            "{} holds facts up to {cursor} and the journal ends at {head}: it was made from another journal; \
             empty it, its cursor included, and start this projector again",
            self.store.name()
        );
        error!("{trouble}");
        self.report.has_trouble(Some(trouble));
        active.cancelled().await;
    }

    /// Takes in what the journal has after the cursor, up to `until`.
    async fn catch_up(&self, active: &CancellationToken, mut cursor: u64, until: u64) -> Option<u64> {
        let mut backoff = Backoff::default();
        let mut pages = Pages::new(&self.journal, cursor, until, S::BATCH);
        while cursor < until {
            self.report.is_behind(until - cursor);
            match pages.next().await {
                Ok(Some(Page::Facts(facts))) => {
                    cursor = self.take_in(active, &facts, cursor).await?;
                    backoff = Backoff::default();
                }
                Ok(Some(Page::Damaged { seq, cause })) => {
                    cursor = self.give_up(active, cursor, seq, &cause).await?;
                }
                Ok(None) => active.run_until_cancelled(backoff.wait()).await?,
                Err(error) => self.wait_for_journal(active, &mut backoff, &error).await?,
            }
        }
        self.report.is_behind(0);
        Some(cursor)
    }

    async fn wait_for_journal(
        &self,
        active: &CancellationToken,
        backoff: &mut Backoff,
        error: &JournalError,
    ) -> Option<()> {
        warn!(%error, "cannot read the journal, trying again");
        self.report.has_trouble(Some(error.to_string()));
        active.run_until_cancelled(backoff.wait()).await
    }

    /// Says what is wrong, and waits.
    pub(super) async fn wait_out(
        &self,
        active: &CancellationToken,
        backoff: &mut Backoff,
        error: &StoreError,
    ) -> Option<()> {
        warn!(%error, "trying again");
        self.report.has_trouble(Some(error.to_string()));
        active.run_until_cancelled(backoff.wait()).await
    }
}

/// Waits a while for facts, and a little longer for more of them. Gives the first `seq` that the stream has again if
/// facts after these are not on it.
async fn gather(follow: &mut Follow, linger: Duration, most: usize) -> (Vec<Fact>, Option<u64>) {
    let mut facts = match timeout(RECOUNT, follow.next_batch()).await {
        Ok(Delivery::Facts(facts)) => facts,
        Ok(Delivery::Jump { next, .. }) => return (Vec::new(), Some(next)),
        Err(_) => return (Vec::new(), None),
    };
    let end = Instant::now() + linger;
    while facts.len() < most {
        match timeout_at(end, follow.next_batch()).await {
            Ok(Delivery::Facts(more)) => facts.extend(more),
            Ok(Delivery::Jump { next, .. }) => return (facts, Some(next)),
            Err(_) => break,
        }
    }
    (facts, None)
}
