//! How a projector is doing, for health checks, metrics and those who wait for a fact to be projected.

use tokio::sync::watch;

/// How a projector is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it is the active one; else it stands by.
    pub active: bool,
    /// Everything up to this `seq` is in the store; only known while active.
    pub cursor: u64,
    /// Facts that are known to wait.
    pub lag: u64,
    /// What it is waiting for the end of, such as an outage of its store.
    pub trouble: Option<String>,
    /// Facts that it gave up on and that lie among the dead letters; counted up to 1,000.
    pub dead_letters: u64,
}

/// Shows how a projector is doing. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    store: &'static str,
    status: watch::Receiver<Status>,
}

impl Handle {
    /// The projection's name: `postgres`, `clickhouse` or `neo4j`.
    pub fn store(&self) -> &'static str {
        self.store
    }

    /// How it is doing now.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Why it is degraded, in words for people; `None` when it is not.
    pub fn degraded(&self) -> Option<String> {
        let status = self.status.borrow();
        match (&status.trouble, status.dead_letters) {
            (Some(trouble), _) => Some(trouble.clone()),
            (None, 0) => None,
            (None, count) => Some(format!(
                "{count} facts were given up on: see `oxagen deadletters list`, mend the cause, then retry them"
            )),
        }
    }

    /// Waits until the status is one that `wanted` accepts, and gives it; `None` when the projector has ended.
    pub async fn until(&mut self, wanted: impl FnMut(&Status) -> bool) -> Option<Status> {
        self.status.wait_for(wanted).await.ok().map(|status| status.clone())
    }
}

/// The projector's own side.
pub(super) struct Report {
    store: &'static str,
    status: watch::Sender<Status>,
}

impl Report {
    pub(super) fn new(store: &'static str) -> Self {
        Self { store, status: watch::Sender::default() }
    }

    pub(super) fn handle(&self) -> Handle {
        Handle { store: self.store, status: self.status.subscribe() }
    }

    pub(super) fn is_active(&self, active: bool) {
        self.status
            .send_modify(|status| *status = Status { active, cursor: status.cursor, ..Status::default() });
    }

    pub(super) fn is_at(&self, cursor: u64) {
        self.status.send_modify(|status| status.cursor = cursor);
    }

    pub(super) fn is_behind(&self, lag: u64) {
        self.status.send_if_modified(|status| std::mem::replace(&mut status.lag, lag) != lag);
    }

    pub(super) fn has_trouble(&self, trouble: Option<String>) {
        self.status.send_if_modified(|status| {
            let changed = status.trouble != trouble;
            status.trouble = trouble;
            changed
        });
    }

    pub(super) fn has_dead_letters(&self, count: u64) {
        self.status.send_if_modified(|status| std::mem::replace(&mut status.dead_letters, count) != count);
    }

    pub(super) fn dead_letters(&self) -> u64 {
        self.status.borrow().dead_letters
    }
}
