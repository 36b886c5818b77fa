//! What the end-to-end tests share: real servers, real `oxagen` processes, and clients for the doors of both.
//!
//! [`world`] is one installation for all tests of a binary: one process with every role, started once. Each test makes
//! a [`Workspace`] of its own in it, so that tests run side by side. A test that kills things makes an
//! [`Installation`] of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod container;
mod events;
mod http;
mod installation;
pub mod kill;
mod port;
mod process;
mod proxy;
mod rows;
mod script;
mod servers;
mod sweep;
mod wait;
mod workspace;
mod world;

pub use container::Containers;
pub use events::{EventStream, SseEvent, names};
pub use http::{Answer, Http};
pub use installation::{Installation, ROLES, Ran};
pub use port::free_port;
pub use process::Process;
pub use proxy::Proxy;
pub use rows::Rows;
pub use script::{call, code, reply, scenario, waiting, waits, word};
pub use servers::Servers;
pub use wait::{PATIENCE, soon, until};
pub use workspace::{Turn, Workspace};
pub use world::{World, world};
