//! Appending: all events of a commit in one round trip, with the versions it relies on still standing.

mod batch;
mod text;

use oxagen_domain::Metadata;
use serde_json::Value;
use tokio::time::timeout;
use uuid::Uuid;

pub(crate) use batch::Commit;
use batch::pick;

use crate::error::{JournalError, code};
use crate::journal::{ANSWER, Journal};

/// An event about to be committed.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The kind of aggregate.
    pub aggregate_type: &'static str,
    /// The aggregate's identifier.
    pub aggregate_id: String,
    /// The aggregate's version after this event: the loaded version plus one, plus two …
    pub version: u64,
    /// `<aggregate>.<event>`.
    pub kind: &'static str,
    /// Version of the payload's form.
    pub form: u32,
    /// The event as serde writes it, its `type` tag included.
    pub payload: Value,
    /// Whose it is, who caused it, and when.
    pub metadata: Metadata,
}

/// An aggregate that must still stand at this version when the commit happens, written by it or not.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The kind of aggregate.
    pub aggregate_type: &'static str,
    /// The aggregate's identifier.
    pub aggregate_id: String,
    /// The version that the decision rests on; 0 means that it must not exist.
    pub version: u64,
}

/// A committed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its identifier, the same as the fact's.
    pub event_id: Uuid,
    /// The aggregate's version after it.
    pub version: u64,
    /// Its physical place; not an order to read by, that is `seq`.
    pub position: u64,
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was faster: load again and decide again.
    #[error("somebody else changed the same thing at the same time; load it again and decide again")]
    Conflict,
    /// What the decision rested on has changed: load again and decide again.
    #[error(
        "{aggregate_type} {aggregate_id} changed while the decision was made; load it again and decide again"
    )]
    GuardFailed {
        /// The kind of aggregate.
        aggregate_type: &'static str,
        /// Its identifier.
        aggregate_id: String,
    },
    /// No answer in time. The commit may have happened: a repeat meets [`AppendError::Conflict`] then.
    #[error("the journal (Postgres) is unavailable: {source}; whether the commit happened is unknown")]
    Unavailable {
        /// What the driver said.
        source: sqlx::Error,
    },
    /// Anything else; a retry will not help.
    #[error(transparent)]
    Journal(JournalError),
}

impl AppendError {
    /// Whether the commit may have happened all the same: its answer was lost. Who got no connection, or was refused
    /// by the server, knows that it did not.
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::Unavailable { source } => !matches!(
                source,
                sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Database(_)
            ),
            Self::Conflict | Self::GuardFailed { .. } | Self::Journal(_) => false,
        }
    }
}

impl From<JournalError> for AppendError {
    fn from(error: JournalError) -> Self {
        if let JournalError::Unavailable { source } = error {
            return Self::Unavailable { source };
        }
        Self::Journal(error)
    }
}

impl From<sqlx::Error> for AppendError {
    /// Any unique violation is a lost race, for the table has no other; so is being picked in a deadlock.
    fn from(error: sqlx::Error) -> Self {
        match code(&error).as_deref() {
            Some("23505" | "40001" | "40P01") => Self::Conflict,
            _ => JournalError::from(error).into(),
        }
    }
}

impl Journal {
    /// Appends all events of a commit, of one aggregate or several, or none of them.
    ///
    /// Every writer of an aggregate holds an exclusive advisory lock on it until its commit, every guard a
    /// shared one: a guard therefore waits for a writer in flight and then sees what it wrote, and a later
    /// writer waits until the guarded commit is done. Guards do not disturb each other, and as all locks of
    /// a commit are taken in the order of their keys nobody waits in a circle.
    ///
    /// Commits that wait at the same moment and have nothing to do with each other share one transaction; what
    /// becomes of one does not touch the others.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] and [`AppendError::GuardFailed`] ask for a new decision; with
    /// [`AppendError::Unavailable`] it is unknown whether the commit happened.
    pub async fn append(
        &self,
        events: Vec<NewEvent>,
        guards: &[Guard],
    ) -> Result<Vec<Appended>, AppendError> {
        let (commit, answer) = Commit::new(events, guards.to_vec());
        let journal = self.clone();
        self.appends().hand_in(commit, pick, move |batch| {
            let journal = journal.clone();
            async move { journal.commit(batch).await }
        });
        match timeout(ANSWER, answer).await {
            Ok(Ok(outcome)) => outcome,
            // The runtime ends, and the transaction with it or not.
            Ok(Err(_)) => Err(AppendError::Unavailable { source: sqlx::Error::WorkerCrashed }),
            Err(_) => Err(JournalError::silent(ANSWER).into()),
        }
    }
}
