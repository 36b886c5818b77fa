//! Rows that must be there against rows that are there.

use std::collections::BTreeMap;

use oxagen_domain::TenantId;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::VerifyOptions;
use super::report::{ColumnDifference, Count, Difference, Outage, Report, Tally, What};
use crate::table::Key;

/// Differences named when nothing else is asked for.
const LIMIT: usize = 100;

/// A row as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The `seq` of its last fact.
    pub(super) sequence: u64,
    /// What it says besides its key and `sequence`, as JSON; equal rows of a table are written alike.
    pub(super) text: String,
}

impl Row {
    fn hash(&self, key: &Key) -> u128 {
        let mut hash = Sha256::new();
        for part in [key.0, key.1, key.2] {
            hash.update(part);
        }
        hash.update(self.sequence.to_be_bytes());
        hash.update(&self.text);
        hash.finalize().iter().take(16).fold(0, |hash, byte| (hash << 8) | u128::from(*byte))
    }
}

/// How a table's rows are told: their columns besides the key and `sequence`, out of their text.
pub(super) type Columns = fn(&str) -> Vec<(&'static str, Value)>;

fn differences(columns: Columns, expected: &Row, found: &Row) -> Vec<ColumnDifference> {
    let sequence = (expected.sequence != found.sequence).then(|| ColumnDifference {
        column: "sequence",
        expected: expected.sequence.into(),
        found: found.sequence.into(),
    });
    let pairs = columns(&expected.text).into_iter().zip(columns(&found.text));
    let differing = pairs.filter(|(expected, found)| expected.1 != found.1);
    let named =
        differing.map(|((column, expected), (_, found))| ColumnDifference { column, expected, found });
    named.chain(sequence).collect()
}

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The store.
    pub(super) store: &'static str,
    /// The table, or the kind of edge.
    pub(super) table: &'static str,
}

/// What was found so far.
pub(super) struct Findings {
    head: u64,
    pub(super) tenant: Option<TenantId>,
    after: u64,
    until: Option<u64>,
    limit: usize,
    tallies: BTreeMap<(Place, TenantId), (Count, Count)>,
    differences: Vec<Difference>,
    differing: u64,
    unavailable: Vec<Outage>,
    /// Rows that have moved on since the cursor was read, or that name a fact that does not exist.
    ahead: Vec<(Place, Key, u64)>,
}

impl Findings {
    pub(super) fn new(head: u64, options: &VerifyOptions) -> Self {
        Self {
            head,
            tenant: options.tenant,
            after: options.after,
            until: options.until,
            limit: if options.limit == 0 { LIMIT } else { options.limit },
            tallies: BTreeMap::new(),
            differences: Vec::new(),
            differing: 0,
            unavailable: Vec::new(),
            ahead: Vec::new(),
        }
    }

    /// The journal's end when the comparison began.
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// The place after which facts were asked for, and the last one of them.
    pub(super) fn window(&self) -> (u64, u64) {
        (self.after, self.until.unwrap_or(u64::MAX))
    }

    /// Whether rows and facts of this `seq` were asked for.
    pub(super) fn asks(&self, seq: u64) -> bool {
        seq > self.after && self.until.is_none_or(|until| seq <= until)
    }

    /// Whether this tenant was asked for.
    pub(super) fn asks_tenant(&self, tenant: TenantId) -> bool {
        self.tenant.is_none_or(|wanted| wanted == tenant)
    }

    /// What a store said, or `None` and a note.
    pub(super) fn noted<T, E: ToString>(&mut self, store: &'static str, answer: Result<T, E>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                let outage = Outage { store, cause: error.to_string() };
                if !self.unavailable.contains(&outage) {
                    self.unavailable.push(outage);
                }
                None
            }
        }
    }

    /// Notes a difference. What is nobody's, such as a number that holds no fact, is left out for one tenant.
    pub(super) fn differs(&mut self, place: Place, tenant_id: Option<TenantId>, id: String, what: What) {
        if self.tenant.is_some() && tenant_id != self.tenant {
            return;
        }
        self.differing += 1;
        if self.differences.len() < self.limit {
            let Place { store, table } = place;
            self.differences.push(Difference { store, table, tenant_id, id, what });
        }
    }

    /// Counts something that must be there, and what is there.
    pub(super) fn count(
        &mut self,
        place: Place,
        tenant: TenantId,
        expected: Option<u128>,
        found: Option<u128>,
    ) {
        let tally = self.tallies.entry((place, tenant)).or_default();
        for (count, hash) in [(&mut tally.0, expected), (&mut tally.1, found)] {
            if let Some(hash) = hash {
                count.rows += 1;
                count.hash ^= hash;
            }
        }
    }

    /// The end of it. `head` is where the journal ends now.
    pub(super) fn report(mut self, head: u64) -> Report {
        for (place, key, seq) in std::mem::take(&mut self.ahead) {
            if seq > head {
                let column =
                    ColumnDifference { column: "sequence", expected: Value::Null, found: seq.into() };
                let what = What::Changed { columns: vec![column] };
                self.differs(place, Some(TenantId(key.0)), key.2.to_string(), what);
            }
        }
        let tables = self.tallies.into_iter().map(|((place, tenant_id), (expected, found))| {
            let Place { store, table } = place;
            Tally { store, table, tenant_id, expected, found }
        });
        Report {
            head: self.head,
            after: self.after,
            until: self.until.unwrap_or(u64::MAX).min(self.head),
            tables: tables.collect(),
            differences: self.differences,
            differing: self.differing,
            unavailable: self.unavailable,
        }
    }
}

/// One table on its way through a comparison.
pub(super) struct Comparison<'f> {
    place: Place,
    columns: Columns,
    /// How far the store was when it began.
    cursor: u64,
    expected: BTreeMap<Key, Row>,
    findings: &'f mut Findings,
}

impl<'f> Comparison<'f> {
    /// These rows must be there.
    pub(super) fn new(
        place: Place,
        columns: Columns,
        cursor: u64,
        expected: BTreeMap<Key, Row>,
        findings: &'f mut Findings,
    ) -> Self {
        Self { place, columns, cursor, expected, findings }
    }

    /// Whose rows were asked for.
    pub(super) fn tenant(&self) -> Option<TenantId> {
        self.findings.tenant
    }

    /// The place after which rows were asked for. Those that moved last before it need not be read.
    pub(super) fn after(&self) -> u64 {
        self.findings.after
    }

    /// The identifiers of rows that must be in a window and were not found in it. They may lie before it.
    pub(super) fn lacking(&self) -> Vec<Uuid> {
        let asked = |row: &Row| self.findings.after > 0 && self.findings.asks(row.sequence);
        self.expected.iter().filter(|(_, row)| asked(row)).map(|(key, _)| key.2).collect()
    }

    /// This row is there.
    pub(super) fn found(&mut self, key: Key, found: &Row) {
        let expected = self.expected.remove(&key);
        if found.sequence > self.cursor {
            self.findings.ahead.push((self.place, key, found.sequence));
            return;
        }
        let asked = [expected.as_ref(), Some(found)]
            .into_iter()
            .flatten()
            .any(|row| self.findings.asks(row.sequence));
        if !asked {
            return;
        }
        let (hash, tenant) = (found.hash(&key), TenantId(key.0));
        if expected.as_ref() == Some(found) {
            self.findings.count(self.place, tenant, Some(hash), Some(hash));
            return;
        }
        self.findings.count(self.place, tenant, expected.as_ref().map(|row| row.hash(&key)), Some(hash));
        let what = match expected {
            None => What::Extra,
            Some(expected) => What::Changed { columns: differences(self.columns, &expected, found) },
        };
        self.findings.differs(self.place, Some(tenant), key.2.to_string(), what);
    }

    /// No more rows are there.
    pub(super) fn end(self) {
        for (key, row) in self.expected {
            if self.findings.asks(row.sequence) {
                self.findings.count(self.place, TenantId(key.0), Some(row.hash(&key)), None);
                self.findings.differs(self.place, Some(TenantId(key.0)), key.2.to_string(), What::Missing);
            }
        }
    }
}
