//! How facts and live frames travel: NATS JetStream.
//!
//! The journal is the source of truth; these streams carry what it holds and can always be made again from it.
//! [`topology`] says which streams and durable consumers there are, [`publish`] puts numbered facts on the
//! stream so that stream sequence = `seq`, [`follow`] reads on from a cursor, [`consume`] shares work between
//! processes, [`live`] carries what a screen shows before it is a fact, and [`doorbell`] wakes the relay.

mod backoff;
mod bus;
pub mod consume;
pub mod doorbell;
pub mod envelope;
mod error;
pub mod follow;
pub mod live;
pub mod publish;
mod pull;
pub mod subject;
mod tail;
pub mod topology;

pub use bus::{Bus, NatsOptions, connect};
pub use error::{Cause, JetStreamError};
