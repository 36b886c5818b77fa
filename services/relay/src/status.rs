//! What a relay says about itself: to whoever holds a handle, and once per change to the log.

use std::collections::BTreeMap;

use tokio::sync::watch;
use tracing::{info, warn};

use crate::error::RelayError;

/// What a relay is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it leads; the others stand by and know nothing of the rest.
    pub leading: bool,
    /// The highest number given.
    pub numbered: u64,
    /// The highest number on the stream.
    pub published: u64,
    /// What keeps it from its work, by the part of it (`number`, `publish`).
    pub trouble: BTreeMap<&'static str, String>,
}

impl Status {
    /// Facts that have a number and are not on the stream yet.
    pub fn lag(&self) -> u64 {
        self.numbered.saturating_sub(self.published)
    }
}

/// Sees what a relay is doing. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle(watch::Receiver<Status>);

impl Handle {
    /// What it is doing now.
    pub fn status(&self) -> Status {
        self.0.borrow().clone()
    }

    /// Waits until this holds of what it is doing; `None` when the relay has ended before.
    pub async fn wait_for(&mut self, holds: impl FnMut(&Status) -> bool) -> Option<Status> {
        self.0.wait_for(holds).await.ok().map(|status| status.clone())
    }
}

/// Where a relay writes its status.
#[derive(Debug, Default)]
pub(crate) struct Board(watch::Sender<Status>);

impl Board {
    pub(crate) fn handle(&self) -> Handle {
        Handle(self.0.subscribe())
    }

    pub(crate) fn leads(&self, numbered: u64) {
        info!(numbered, "this relay leads");
        self.0.send_modify(|status| *status = Status { leading: true, numbered, ..Status::default() });
    }

    pub(crate) fn stands_by(&self) {
        info!("this relay no longer leads");
        self.0.send_replace(Status::default());
    }

    pub(crate) fn numbered(&self, last: u64) {
        self.0.send_modify(|status| status.numbered = last);
    }

    pub(crate) fn published(&self, last: u64) {
        self.0.send_modify(|status| status.published = last);
    }

    /// Notes that a part of the relay is in trouble, or out of it.
    pub(crate) fn trouble(&self, part: &'static str, error: Option<&RelayError>) {
        let now = error.map(ToString::to_string);
        let before = self.0.borrow().trouble.get(part).cloned();
        if now == before {
            return;
        }
        match now {
            Some(error) => {
                warn!(part, error, "the relay waits and tries again");
                self.0.send_modify(|status| _ = status.trouble.insert(part, error.clone()));
            }
            None => {
                info!(part, "the relay is at work again");
                self.0.send_modify(|status| _ = status.trouble.remove(part));
            }
        }
    }
}
