//! What every view is told besides the event: the fact that carries it and the aggregate that it happened to.

use chrono::{DateTime, Utc};
use oxagen_domain::Fact;
use serde::Serialize;
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

/// A one-word enum as rows have it: the word that serde writes.
pub(super) fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}
