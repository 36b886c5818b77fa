//! The stores' schemas, brought up to date before a program uses them.
//!
//! A migration is a file in `postgres/` (`NNNN_name.up.sql` and `NNNN_name.down.sql`), `clickhouse/`
//! (`NNNN_name.sql`) or `neo4j/` (`NNNN_name.cypher`), applied once, in the order of its number, and never
//! changed afterwards.

mod adopt;
mod clickhouse;
mod error;
mod file;
mod neo4j;
mod postgres;
mod reader;

pub use clickhouse::clickhouse;
pub use error::MigrationError;
pub use neo4j::neo4j;
pub use postgres::{PostgresTarget, check, postgres, undo, version};

/// What a migration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The version found; 0 for an empty store.
    pub from: i64,
    /// The version left behind.
    pub to: i64,
}
