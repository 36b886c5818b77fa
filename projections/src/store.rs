//! What a projector needs of a store: to take in facts and remember how far it is.

use std::future::Future;

use oxagen_domain::Fact;

/// Facts to take in, ascending and without a gap but for those given up on.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'f> {
    /// The cursor on which the batch rests.
    pub from: u64,
    /// The facts; none to move the cursor over what was given up on.
    pub facts: &'f [Fact],
    /// The cursor afterwards.
    pub to: u64,
}

/// Why a store did not take a batch in.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or is too busy. The same batch may go well later.
    #[error("{store} is unavailable: {cause}")]
    Unavailable {
        /// Which store.
        store: &'static str,
        /// What its driver said.
        cause: String,
    },
    /// Something in the batch is refused, or cannot be read. A fact that is refused alone is given up on.
    #[error("{store} refused it: {cause}")]
    Refused {
        /// Which store.
        store: &'static str,
        /// What was wrong.
        cause: String,
    },
    /// Another projector has moved the cursor.
    #[error("the cursor of {store} stands at {found}, not at {expected}: another projector is active")]
    CursorMoved {
        /// Which store.
        store: &'static str,
        /// Where the batch rests.
        expected: u64,
        /// Where the cursor is.
        found: u64,
    },
}

/// A store that facts are projected into. Taking the same facts in again changes nothing.
pub trait Store: Send + Sync + 'static {
    /// Most facts in a batch. A large one costs less for each fact and comes later for the first one; it matters when
    /// there is much to catch up with.
    const BATCH: usize = 500;

    /// The projection's name, under which its cursor, lock and dead letters are kept.
    fn name(&self) -> &'static str;

    /// Makes ready what every batch relies on. Called once when a projector becomes active; may be repeated.
    ///
    /// # Errors
    /// [`StoreError`].
    fn prepare(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Everything up to this `seq` is in the store.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn cursor(&self) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Takes a batch in and moves the cursor from `from` to `to`. Takes a bounded time. After an error the cursor
    /// stands where it stood, or at `to` if only the answer was lost.
    ///
    /// # Errors
    /// [`StoreError`].
    fn apply(&self, batch: Batch<'_>) -> impl Future<Output = Result<(), StoreError>> + Send;
}
