//! What the journal says there must be.

use std::collections::{BTreeMap, BTreeSet};

use oxagen_domain::{Fact, TenantId};
use uuid::Uuid;

use super::compare::{Findings, Place, Row};
use super::report::What;
use super::{clickhouse, neo4j, refused};
use crate::postgres::views::Views;
use crate::store::StoreError;
use crate::table::Key;

/// How far each store is; `None` for one that is left out.
pub(super) struct Cursors {
    pub(super) postgres: Option<u64>,
    pub(super) clickhouse: Option<u64>,
    pub(super) neo4j: Option<u64>,
}

/// A part of the rows, by their identifiers.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) number: u64,
    pub(super) of: u64,
}

impl Part {
    /// Whether this thing belongs to it.
    pub(super) fn has(self, id: Uuid) -> bool {
        let (high, low) = id.as_u64_pair();
        (high ^ low.rotate_left(17)) % self.of == self.number
    }
}

/// Rows of one table, by key.
pub(super) type Table = BTreeMap<Key, Row>;

/// The rows of one part that must be in the stores.
pub(super) struct Expected {
    pub(super) part: Part,
    pub(super) views: Views,
    pub(super) analytic: clickhouse::Tables,
    pub(super) edges: neo4j::Edges,
    /// Everybody whom the journal knows.
    pub(super) tenants: BTreeSet<TenantId>,
}

impl Expected {
    /// Nothing yet.
    pub(super) fn new(part: Part) -> Self {
        let (views, analytic, edges) = Default::default();
        Self { part, views, analytic, edges, tenants: BTreeSet::new() }
    }

    /// Folds a fact for each store that has it.
    pub(super) fn take_in(&mut self, fact: &Fact, cursors: &Cursors, findings: &mut Findings) {
        if !findings.asks_tenant(fact.tenant_id) {
            return;
        }
        self.tenants.insert(fact.tenant_id);
        let folded = self.fold(fact, cursors);
        if let Err(StoreError::Refused { cause, .. }) = folded
            && self.part.number == 0
            && findings.asks(fact.seq)
        {
            let place = Place { store: "journal", table: "events" };
            findings.differs(place, Some(fact.tenant_id), fact.seq.to_string(), What::Unreadable { cause });
        }
    }

    /// One store's refusal does not keep the fact from the others.
    fn fold(&mut self, fact: &Fact, cursors: &Cursors) -> Result<(), StoreError> {
        let has = |cursor: Option<u64>| cursor.is_some_and(|cursor| fact.seq <= cursor);
        if ![cursors.postgres, cursors.clickhouse, cursors.neo4j].into_iter().any(has) {
            return Ok(());
        }
        let (event, mut folded) = match fact.event() {
            Ok(event) => (event, Ok(())),
            Err(error) => (None, Err(refused("journal", error))),
        };
        if has(cursors.clickhouse) {
            folded = folded.and(self.analytic.take_in(fact, event.as_ref(), self.part));
        }
        let Some(event) = event else { return folded };
        if has(cursors.postgres) {
            folded = folded.and(self.views.take_event(fact, &event));
        }
        if has(cursors.neo4j) {
            folded = folded.and(self.edges.take_in(fact, &event, self.part));
        }
        folded
    }

    /// Forgets what belongs to another part.
    pub(super) fn drop_others(&mut self) {
        if self.part.of > 1 {
            let part = self.part;
            self.views.retain(|id| part.has(id));
        }
    }
}
