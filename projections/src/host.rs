//! A projector: follows the facts from its store's cursor and gives them to the store in batches.
//!
//! Any number may run per store; the one that holds an advisory lock on the journal is active, the others stand by
//! and take over within a second. The cursor lies in the store and moves by compare-and-set, so that a projector
//! that lost its lock without noticing changes nothing. A fact that the store refuses five times is put among the
//! dead letters, and the rest goes on. A store that is away is waited for; other stores have projectors of their own.

mod backoff;
mod follow;
mod lock;
mod status;
mod take_in;

use std::time::Duration;

use oxagen_domain::Fact;
use oxagen_jetstream::Bus;
use oxagen_journal::Journal;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span};

use crate::store::{Batch, Store, StoreError};

use lock::Lock;
use status::Report;
pub use status::{Handle, Status};

/// What may be chosen about a projector.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectorOptions {
    /// How long a batch waits for more facts after its first one. Zero takes what is there: right for a store that
    /// people read from at once. 50 ms suits stores that would rather have few large batches.
    pub linger: Duration,
}

/// A projector of one store.
pub struct Projector<S> {
    store: S,
    journal: Journal,
    bus: Bus,
    options: ProjectorOptions,
    report: Report,
}

impl<S: Store> Projector<S> {
    /// A projector that does nothing until it [runs](Self::run).
    pub fn new(store: S, journal: Journal, bus: Bus, options: ProjectorOptions) -> Self {
        let report = Report::new(store.name());
        Self { store, journal, bus, options, report }
    }

    /// Shows how it goes; cheap to clone.
    pub fn handle(&self) -> Handle {
        self.report.handle()
    }

    /// Stands by, is active, stands by again, until the shutdown. A batch under way is finished first.
    pub async fn run(self, shutdown: CancellationToken) {
        let span = info_span!("projector", store = self.store.name());
        self.take_turns(&shutdown).instrument(span).await;
    }

    async fn take_turns(&self, shutdown: &CancellationToken) {
        while let Some(lock) =
            shutdown.run_until_cancelled(Lock::take(&self.journal, self.store.name())).await
        {
            let active = lock.active_until(shutdown);
            info!("active");
            self.report.is_active(true);
            // Ends with the shutdown, a lost lock, or a cursor that another projector has moved.
            let _ = self.project(&active).await;
            self.report.is_active(false);
            info!("no longer active");
            lock.release().await;
        }
    }

    /// Who reads the dead letters of this projector knows it by this name.
    fn reader(&self) -> String {
        format!("projector-{}", self.store.name())
    }
}

/// Gives one fact to a store again, wherever the store's cursor is: for a dead letter whose cause was mended.
///
/// # Errors
/// [`StoreError::CursorMoved`] when an active projector moved on meanwhile; try again.
pub async fn apply_again<S: Store>(store: &S, fact: &Fact) -> Result<(), StoreError> {
    let cursor = store.cursor().await?;
    store.apply(Batch { from: cursor, facts: std::slice::from_ref(fact), to: cursor }).await
}
