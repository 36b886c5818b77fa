//! The runner: it advances turns, asks the model, runs tools, and is the only part of the runtime that acts on the
//! world.
//!
//! It learns of work from a durable consumer that all runners share. A turn belongs to one runner at a time; another
//! takes it over only when its owner's lock on the journal is free. Whatever a runner holds in memory may be lost at
//! any moment: everything that counts was committed before.

mod advance;
mod attend;
mod calls;
mod history;
mod live;
mod locks;
mod service;
mod step;
mod stops;
mod sweep;
mod tools;

use std::sync::Arc;

use oxagen_commands::Commands;
use oxagen_domain::RunnerId;
use oxagen_jetstream::Bus;
use oxagen_jetstream::live::LivePublisher;
use oxagen_model::ModelClient;
use oxagen_projections::Queries;
use oxagen_sandbox::SandboxDriver;

use crate::history::Pasts;
use crate::locks::Locks;
use crate::stops::Stops;

pub use service::{Runner, RunnerError};

/// What a runner works with.
#[derive(Clone)]
pub struct RunnerOptions {
    /// Its name, new for each process; the sandbox labels containers with it.
    pub id: RunnerId,
    /// The write side.
    pub commands: Commands,
    /// The streams.
    pub bus: Bus,
    /// The read models, for finding what was left lying.
    pub queries: Queries,
    /// The model provider.
    pub model: ModelClient,
    /// The model for turns that name none.
    pub default_model: String,
    /// Where code runs.
    pub sandbox: Arc<dyn SandboxDriver>,
    /// Turns and calls outside turns at once.
    pub concurrency: usize,
}

/// What all of a runner's tasks share.
struct Shared {
    options: RunnerOptions,
    live: LivePublisher,
    locks: Locks,
    stops: Stops,
    pasts: Pasts,
}
