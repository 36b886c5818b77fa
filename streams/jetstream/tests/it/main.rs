//! The streams on a real NATS server: the one of the test stack (`NATS_URL`), or one of its own where a test
//! has to stop it.

// The lints' exception for tests does not reach their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod consume;
mod follow;
mod live;
mod publish;
mod restart;
mod topology;
mod world;
