//! Roles in this process: what they stand on, how they start, and how they stop.

mod admin;
mod board;
mod listen;
pub(crate) mod log;
mod parts;
mod role;
mod runner;
mod signal;
pub(crate) mod stores;
mod supervisor;
pub(crate) mod waiting;

pub(crate) use parts::{Parts, bus, journal_url};
pub(crate) use role::{Role, streams};
pub(crate) use supervisor::run;
