//! What all routes share.

use std::sync::Arc;

use oxagen_commands::Commands;
use oxagen_jetstream::Bus;
use oxagen_journal::Journal;
use oxagen_projections::Queries;
use oxagen_projections::verify::Verifier;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::Problem;
use crate::hub::Hub;
use crate::keys::KnownKeys;
use crate::lane::{Lane, Turn};
use crate::limit::Limiter;
use crate::metrics::Metrics;
use crate::options::Options;

/// Viewers that read their past from the journal at a time.
const READERS: usize = 6;

/// What a gateway stands on.
#[derive(Clone)]
pub struct Parts {
    /// The write side, and through it the journal.
    pub commands: Commands,
    /// The read models of Postgres.
    pub queries: Queries,
    /// NATS.
    pub bus: Bus,
    /// What compares the stores.
    pub verifier: Verifier,
}

/// What all routes share. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    options: Options,
    parts: Parts,
    journal: Lane,
    views: Lane,
    hub: Hub,
    keys: KnownKeys,
    limiter: Limiter,
    metrics: Metrics,
    readers: Semaphore,
    comparing: Semaphore,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

impl App {
    /// Streams and waits end when `shutdown` is cancelled.
    pub fn new(options: Options, parts: Parts, shutdown: CancellationToken) -> Self {
        let limiter = Limiter::new(options.limits);
        // The rest of the time that a request has is for what it came for.
        let patience = options.timeout.mul_f64(0.75);
        let lane = |at_once| Lane::new(at_once, options.turns.queue, patience);
        let (journal, views) = (lane(options.turns.journal), lane(options.turns.views));
        Self(Arc::new(Inner {
            options,
            parts,
            journal,
            views,
            hub: Hub::new(),
            keys: KnownKeys::default(),
            limiter,
            metrics: Metrics::new(),
            readers: Semaphore::new(READERS),
            comparing: Semaphore::new(1),
            tasks: TaskTracker::new(),
            shutdown,
        }))
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// The write side, when it is this request's turn.
    pub(crate) async fn commands(&self) -> Result<Turn<'_, Commands>, Problem> {
        self.0.journal.turn(&self.0.parts.commands, self.journal().ping()).await
    }

    /// The journal, when it is this request's turn.
    pub(crate) async fn history(&self) -> Result<Turn<'_, Journal>, Problem> {
        self.0.journal.turn(self.journal(), self.journal().ping()).await
    }

    /// The read models, when it is this request's turn.
    pub(crate) async fn views(&self) -> Result<Turn<'_, Queries>, Problem> {
        self.0.views.turn(self.queries(), self.queries().ping()).await
    }

    /// The journal, for the gateway's own few readers and probes.
    pub(crate) fn journal(&self) -> &Journal {
        self.0.parts.commands.journal()
    }

    /// The read models, for probes.
    pub(crate) fn queries(&self) -> &Queries {
        &self.0.parts.queries
    }

    pub(crate) fn bus(&self) -> &Bus {
        &self.0.parts.bus
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.0.hub
    }

    pub(crate) fn keys(&self) -> &KnownKeys {
        &self.0.keys
    }

    pub(crate) fn limiter(&self) -> &Limiter {
        &self.0.limiter
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Let in those who read the past.
    pub(crate) fn readers(&self) -> &Semaphore {
        &self.0.readers
    }

    /// What compares the stores.
    pub(crate) fn verifier(&self) -> &Verifier {
        &self.0.parts.verifier
    }

    /// Lets one compare the stores at a time.
    pub(crate) fn comparing(&self) -> &Semaphore {
        &self.0.comparing
    }

    /// Streams that are open, and other work that outlives its request.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }
}
