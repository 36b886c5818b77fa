//! Builds a projection again from the journal, while it is read and written.
//!
//! Everything is built beside the live rows first. Then, with the projection's cursor held so that its projector waits,
//! the last facts are taken in and what was built takes the place of what was there. Building only folds facts: nothing
//! acts again. Whoever is killed midway leaves the live rows as they were, and the next one clears up after him.

mod clickhouse;
mod neo4j;
mod postgres;
mod shadow;
mod turn;

use std::future::Future;

use oxagen_journal::{Journal, JournalError};
use serde::Serialize;

use crate::store::{Store, StoreError};

/// How far a rebuild is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Facts up to this `seq` are in what is being built.
    pub at: u64,
    /// Where the live projection is.
    pub of: u64,
}

/// Told how far it is, after each page of facts.
pub type Tell<'t> = &'t (dyn Fn(Progress) + Send + Sync);

/// What was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    /// `postgres`, `clickhouse` or `neo4j`.
    pub store: &'static str,
    /// The cursor at which it took the old one's place.
    pub cursor: u64,
    /// Facts that cannot be taken in by this build; they lie among the dead letters, or will.
    pub refused: Vec<u64>,
    /// What it changed.
    pub tables: Vec<Change>,
}

/// What a rebuild changed in a table. A row that was wrong counts as removed and as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The table, or the kind of edge or node.
    pub table: &'static str,
    /// Rows that were there and do not follow from the journal.
    pub removed: u64,
    /// Rows that were not there as the journal has them; always 0 in the graph, where they are written in place.
    pub written: u64,
}

/// Why a projection was not built again. What was there is still there.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// Somebody else is at it.
    #[error("{store} is being rebuilt by another process; wait for it, or stop it")]
    Busy {
        /// Which projection.
        store: &'static str,
    },
    /// The live projection is ahead of the journal.
    #[error(
        "{store} holds facts up to {cursor} and the journal ends at {head}: it was made from another journal; \
         point both at the same installation"
    )]
    OtherJournal {
        /// Which projection.
        store: &'static str,
        /// Where it is.
        cursor: u64,
        /// Where the journal ends.
        head: u64,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A store whose rows can be built again.
pub trait Rebuild: Store {
    /// Builds them from the journal. Safe to cancel and to repeat.
    ///
    /// # Errors
    /// [`RebuildError`].
    fn rebuild(
        &self,
        journal: &Journal,
        tell: Tell<'_>,
    ) -> impl Future<Output = Result<Rebuilt, RebuildError>> + Send;
}
