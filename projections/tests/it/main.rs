//! Projections on real servers, whose addresses are in the environment (`.stack/test/env`). Each test makes its own
//! databases and streams, and the identifiers of what it puts into the one graph are its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clickhouse;
mod graph;
mod host;
mod postgres;
mod queries;
mod rebuild;
mod story;
mod verify;
mod walls;
mod world;
