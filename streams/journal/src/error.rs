//! What can go wrong between this process and the journal.

use std::io;
use std::time::Duration;

use oxagen_domain::RunnerId;

/// Why the journal did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The address cannot be read as one.
    #[error(
        "the journal's address is not a Postgres URL: {source}; expected postgres://user:password@host:port/database"
    )]
    Address {
        /// What is wrong with it.
        source: sqlx::Error,
    },
    /// The server cannot be reached, has no free connection, or did not answer in time. Worth a retry.
    #[error(
        "the journal (Postgres) is unavailable: {source}; check that the server runs and accepts connections"
    )]
    Unavailable {
        /// What the driver said.
        source: sqlx::Error,
    },
    /// The server refused the statement. A retry will not help.
    #[error(
        "the journal (Postgres) refused a statement: {source}; if a table is missing, run `oxagen migrate`"
    )]
    Database {
        /// What the server said.
        source: sqlx::Error,
    },
    /// A stored event does not have the shape that every event has.
    #[error("fact {seq} in the journal is damaged: {cause}")]
    Damaged {
        /// Its place in history.
        seq: u64,
        /// What is wrong with it.
        cause: String,
    },
    /// An aggregate has an event that this build cannot read, perhaps because a newer build wrote it.
    #[error(
        "{aggregate_type} {aggregate_id} has an event that this build cannot read: {cause}; run the build that wrote it, or a newer one"
    )]
    Unreadable {
        /// The kind of aggregate.
        aggregate_type: &'static str,
        /// Its identifier.
        aggregate_id: String,
        /// What did not fit.
        cause: String,
    },
    /// Another process already holds this runner's lock.
    #[error("runner {runner} is already running in another process; give each process its own runner id")]
    Owned {
        /// The runner.
        runner: RunnerId,
    },
    /// The journal was copied here from another Postgres cluster and its transaction ids mean nothing here.
    #[error(
        "the journal was written on another Postgres cluster (system identifier {was}, here {is}); run `oxagen migrate --adopt` once before the relay starts"
    )]
    OtherCluster {
        /// System identifier kept in the journal.
        was: i64,
        /// System identifier of this server.
        is: i64,
    },
}

impl From<sqlx::Error> for JournalError {
    fn from(source: sqlx::Error) -> Self {
        if may_pass(&source) { Self::Unavailable { source } } else { Self::Database { source } }
    }
}

impl JournalError {
    /// No answer within `limit`.
    pub(crate) fn silent(limit: Duration) -> Self {
        let text = format!("no answer within {} s", limit.as_secs());
        Self::Unavailable { source: sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, text)) }
    }

    /// The same once more, for another who waited for the same answer.
    pub(crate) fn again(&self) -> Self {
        let text = || self.to_string();
        if self.is_transient() {
            let cause = std::error::Error::source(self).map_or_else(text, ToString::to_string);
            return Self::Unavailable { source: sqlx::Error::Protocol(cause) };
        }
        Self::Database { source: sqlx::Error::Protocol(text()) }
    }

    /// Whether trying again later may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable { .. } => true,
            Self::Address { .. }
            | Self::Database { .. }
            | Self::Damaged { .. }
            | Self::Unreadable { .. }
            | Self::Owned { .. }
            | Self::OtherCluster { .. } => false,
        }
    }
}

/// Connection failures, an exhausted or closed pool, and a server that is starting, stopping, full or slow.
fn may_pass(error: &sqlx::Error) -> bool {
    let code = code(error).unwrap_or_default();
    code.starts_with("08")
        || code.starts_with("53")
        || code.starts_with("57")
        || code == "55P03"
        || matches!(
            error,
            sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
        )
}

/// The SQLSTATE of a server's refusal.
pub(crate) fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(|code| code.into_owned())
}
