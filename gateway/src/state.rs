//! What all routes share.

use std::sync::Arc;

use oxagen_commands::Commands;
use oxagen_jetstream::Bus;
use oxagen_journal::Journal;
use oxagen_projections::Queries;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::hub::Hub;
use crate::keys::KnownKeys;
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
}

/// What all routes share. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    options: Options,
    parts: Parts,
    hub: Hub,
    keys: KnownKeys,
    limiter: Limiter,
    metrics: Metrics,
    readers: Semaphore,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

impl App {
    /// Streams and waits end when `shutdown` is cancelled.
    pub fn new(options: Options, parts: Parts, shutdown: CancellationToken) -> Self {
        let limiter = Limiter::new(options.limits);
        Self(Arc::new(Inner {
            options,
            parts,
            hub: Hub::new(),
            keys: KnownKeys::default(),
            limiter,
            metrics: Metrics::new(),
            readers: Semaphore::new(READERS),
            tasks: TaskTracker::new(),
            shutdown,
        }))
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn commands(&self) -> &Commands {
        &self.0.parts.commands
    }

    pub(crate) fn journal(&self) -> &Journal {
        self.0.parts.commands.journal()
    }

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

    /// Streams that are open, and other work that outlives its request.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }
}
