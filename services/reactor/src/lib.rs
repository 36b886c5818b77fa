//! The reactor: facts in, commands out, and the timers.
//!
//! What follows from a fact is decided by `oxagen_domain::reaction`, purely; this service carries it out, as often as
//! the message comes. Any number of reactors share one durable consumer.

mod catalog;
mod service;
mod stop;
mod timers;

use oxagen_commands::Commands;
use oxagen_jetstream::Bus;
use oxagen_projections::Queries;

pub use service::Reactor;

/// What a reactor works with.
#[derive(Clone)]
pub struct ReactorOptions {
    /// The write side.
    pub commands: Commands,
    /// The streams.
    pub bus: Bus,
    /// The read models, for the timers.
    pub queries: Queries,
}
