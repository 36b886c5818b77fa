//! The history itself: numbers without a gap, and each aggregate's versions without one.

use std::collections::HashMap;

use oxagen_domain::Fact;
use oxagen_domain::derive;
use uuid::Uuid;

use super::compare::{Findings, Place};
use super::expected::Part;
use super::report::{ColumnDifference, What};

const EVENTS: Place = Place { store: "journal", table: "events" };
const SEQUENCE: Place = Place { store: "journal", table: "sequence" };

/// What was seen of it.
pub(super) struct History {
    part: Part,
    last: u64,
    /// The last one of each aggregate, by its type and identifier.
    versions: HashMap<(String, String), u64>,
}

impl History {
    /// Nothing yet. Numbers are looked at in the first part alone, versions in each for its own aggregates.
    pub(super) fn new(part: Part) -> Self {
        Self { part, last: 0, versions: HashMap::new() }
    }

    /// From this place on.
    pub(super) fn after(part: Part, after: u64) -> Self {
        Self { last: after, ..Self::new(part) }
    }

    /// What came before it.
    pub(super) fn remember(&mut self, fact: &Fact) {
        let aggregate = (fact.aggregate_type.clone(), fact.aggregate_id.clone());
        self.versions.insert(aggregate, fact.aggregate_version);
    }

    /// Looks at the next fact.
    pub(super) fn take_in(&mut self, fact: &Fact, findings: &mut Findings) {
        self.follows(fact.seq, findings);
        let parsed = fact.aggregate_id.parse::<Uuid>();
        if !self.part.has(parsed.unwrap_or_else(|_| derive(Uuid::nil(), &fact.aggregate_id))) {
            return;
        }
        let aggregate = (fact.aggregate_type.clone(), fact.aggregate_id.clone());
        let version = self.versions.entry(aggregate).or_default();
        let expected = *version + 1;
        *version = fact.aggregate_version;
        if !findings.asks(fact.seq) || !findings.asks_tenant(fact.tenant_id) {
            return;
        }
        let hash = fact.event_id.as_u128();
        findings.count(EVENTS, fact.tenant_id, Some(hash), Some(hash));
        if fact.aggregate_version != expected {
            let (expected, found) = (expected.into(), fact.aggregate_version.into());
            let columns = vec![ColumnDifference { column: "aggregateVersion", expected, found }];
            findings.differs(EVENTS, Some(fact.tenant_id), fact.seq.to_string(), What::Changed { columns });
        }
    }

    /// A fact could not be read.
    pub(super) fn damaged(&mut self, seq: u64, cause: &str, findings: &mut Findings) {
        self.follows(seq, findings);
        if self.part.number == 0 && findings.asks(seq) {
            let what = What::Unreadable { cause: cause.to_owned() };
            findings.differs(EVENTS, None, seq.to_string(), what);
        }
    }

    /// It ends here.
    pub(super) fn end(&mut self, head: u64, findings: &mut Findings) {
        self.follows(head + 1, findings);
    }

    fn follows(&mut self, seq: u64, findings: &mut Findings) {
        if self.part.number == 0 {
            for missing in (self.last + 1..seq).filter(|missing| findings.asks(*missing)).collect::<Vec<_>>()
            {
                findings.differs(SEQUENCE, None, missing.to_string(), What::Missing);
            }
        }
        self.last = seq;
    }
}
