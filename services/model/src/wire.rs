//! The provider's spelling: strict in what we send, lenient in what we take.

mod chunk;
mod outgoing;
mod signal;

pub(crate) use chunk::{Chunk, Piece};
pub(crate) use outgoing::body;
pub(crate) use signal::{Signal, read, read_rest};
