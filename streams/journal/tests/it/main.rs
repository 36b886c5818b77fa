//! The journal on a real Postgres, whose addresses are in `DATABASE_URL` and `DATABASE_ADMIN_URL`. Each test
//! makes a database of its own, because a database has one history.

#![allow(clippy::unwrap_used, clippy::panic)]

mod append;
mod base;
mod guard;
mod keep;
mod number;
mod own;
mod read;
mod snapshot;
mod stall;
mod together;
