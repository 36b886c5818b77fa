//! The write side: each intention is one handler that gathers facts, forms commands and commits what was decided.
//!
//! Handlers for callers take a [`Caller`], whose workspace is the wall: what belongs to another one does not exist.
//! Handlers for the runtime's own roles take a [`Context`], which says on whose behalf and because of what.

mod caller;
mod calls;
mod context;
mod error;
mod gate;
mod handlers;
mod hold;
mod inbox;
mod known;
mod plans;
mod secret;
mod unit;

use std::sync::Arc;

use oxagen_journal::Journal;

pub use caller::Caller;
pub use calls::{AskedCall, AtOnce, PlannedCall};
pub use context::Context;
pub use error::{Code, CommandError};
pub use handlers::*;
pub use inbox::{Counted, Inbox};
pub use known::Known;

/// The command bus: cheap to clone, one per process.
#[derive(Clone)]
pub struct Commands {
    journal: Journal,
    /// What many commands rest on and guard, such as policies.
    shared: Known,
    inbox: Option<Arc<dyn Inbox>>,
}

impl Commands {
    /// A bus over this journal.
    pub fn new(journal: Journal) -> Self {
        Self { journal, shared: Known::default(), inbox: None }
    }

    /// Asks this inbox how many approvals are open, and holds the tiers' caps on them. Without one there are no caps.
    #[must_use]
    pub fn with_inbox(self, inbox: Arc<dyn Inbox>) -> Self {
        Self { inbox: Some(inbox), ..self }
    }

    /// The journal that it commits to.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
}
