//! What keeps a relay from its work for a while.

use oxagen_jetstream::JetStreamError;
use oxagen_jetstream::publish::PublishError;
use oxagen_journal::JournalError;

/// What keeps a relay from its work; it tries again by itself.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The streams.
    #[error(transparent)]
    JetStream(#[from] JetStreamError),
    /// A fact could not be put on the stream.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The stream ends elsewhere than this relay left it: it was cut, or made again.
    #[error("the stream ends at {found} instead of {expected}: it was cut or made again, and is filled up")]
    Cut {
        /// Where this relay left it.
        expected: u64,
        /// Where it ends.
        found: u64,
    },
}
