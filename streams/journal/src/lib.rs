//! The journal: every event that ever happened, in Postgres, and the number that each one gets.
//!
//! Only the command bus appends ([`Journal::append`]), only the relay numbers ([`Sequencer`]); everybody
//! else reads facts in the order of their numbers.

mod append;
mod dead_letter;
mod error;
mod journal;
mod lanes;
mod load;
mod lock;
mod number;
mod object;
mod own;
mod read;

pub use append::{AppendError, Appended, Guard, NewEvent};
pub use dead_letter::{DeadLetter, DeadLetters};
pub use error::JournalError;
pub use journal::{Doorbell, Journal, JournalOptions};
pub use load::Loaded;
pub use number::{Numbered, Sequencer};
pub use own::{Ownership, OwnershipLost};
pub use read::FactFilter;
