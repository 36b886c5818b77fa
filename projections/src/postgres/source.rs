//! What every view is told besides the event: the fact that carries it and the aggregate that it happened to.

use chrono::{DateTime, Utc};
use oxagen_domain::Fact;
use uuid::Uuid;

/// The fact behind an event.
#[derive(Clone, Copy)]
pub(super) struct Source<'f> {
    /// The fact.
    pub(super) fact: &'f Fact,
    /// Its aggregate's identifier.
    pub(super) id: Uuid,
}

impl Source<'_> {
    /// When it happened.
    pub(super) fn at(&self) -> Option<DateTime<Utc>> {
        Some(self.fact.occurred_at)
    }
}
