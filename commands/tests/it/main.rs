//! The handlers on a real Postgres, whose addresses are in `DATABASE_URL` and `DATABASE_ADMIN_URL`.

#![allow(clippy::unwrap_used, clippy::panic)]

mod approvals;
mod base;
mod idempotency;
mod known;
mod ledger;
mod policy;
mod races;
