//! Why a read model could not be asked.

use std::io;
use std::time::Duration;

use crate::page::MAX_LIMIT;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The server cannot be reached, has no free connection, or did not answer in time. Worth a retry.
    #[error(
        "the read models (Postgres) are unavailable: {source}; check that the server runs and accepts connections"
    )]
    Unavailable {
        /// What the driver said.
        source: sqlx::Error,
    },
    /// The server refused the query, or answered what this build cannot read. A retry will not help.
    #[error(
        "the read models (Postgres) refused a query: {source}; if a table is missing, run `oxagen migrate`"
    )]
    Database {
        /// What the driver said.
        source: sqlx::Error,
    },
    /// Not a cursor of this list.
    #[error(
        "`cursor` must be the nextCursor of an earlier page of this list: leave it out to begin at the first page"
    )]
    BadCursor,
    /// Too many or too few items asked for.
    #[error("`limit` must be between 1 and {MAX_LIMIT}, not {limit}")]
    BadLimit {
        /// What was asked for.
        limit: u32,
    },
}

impl From<sqlx::Error> for QueryError {
    fn from(source: sqlx::Error) -> Self {
        if is_outage(&source) { Self::Unavailable { source } } else { Self::Database { source } }
    }
}

impl QueryError {
    /// No answer within `limit`.
    pub(crate) fn silent(limit: Duration) -> Self {
        let text = format!("no answer within {} s", limit.as_secs());
        Self::Unavailable { source: sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, text)) }
    }
}

/// Whether the server is away, starting, stopping, full or slow, so that the same may go well later.
pub(crate) fn is_outage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Connections, resources, the operator; serialization, deadlock, locks. A read-only server was demoted.
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| {
            ["08", "40", "53", "55", "57", "58"].contains(&&code[..2.min(code.len())]) || code == "25006"
        }),
        _ => false,
    }
}
