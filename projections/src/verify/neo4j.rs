//! The edges in Neo4j.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use neo4rs::{BoltType, query};
use oxagen_domain::{Event, Fact};
use serde_json::Value;
use uuid::Uuid;

use super::compare::{Columns, Comparison, Findings, Place, Row};
use super::expected::{Expected, Part, Table};
use super::refused;
use super::report::What;
use crate::neo4j::approved_by::Approvals;
use crate::neo4j::invoked::Invocations;
use crate::neo4j::{NAME, Neo4j, explain};
use crate::store::StoreError;
use crate::table::Key;

/// A kind of edge: its name, the column that identifies it, its other columns, and how all of them are read.
struct Kind {
    name: &'static str,
    id: &'static str,
    columns: &'static [&'static str],
    told: Columns,
    read: &'static str,
}

const INVOKED: Kind = Kind {
    name: "INVOKED",
    id: "call",
    columns: &["execution", "version", "capability", "status", "attempt", "latency", "started", "finished"],
    told: |text| INVOKED.told(text),
    read: "
MATCH (e:Execution)-[i:INVOKED]->(v:ToolVersion) WHERE e.tenant IN $tenants
  AND ($after = 0 OR i.sequence > $after OR i.callId IN $ids)
RETURN e.tenant AS tenant, e.workspace AS workspace, i.callId AS call, e.id AS execution, v.id AS version,
  i.capability AS capability, i.status AS status, i.attempt AS attempt, i.latencyMs AS latency,
  toString(i.startedAt) AS started, toString(i.finishedAt) AS finished, i.sequence AS sequence",
};

const APPROVED_BY: Kind = Kind {
    name: "APPROVED_BY",
    id: "approval",
    columns: &["execution", "user", "call", "at"],
    told: |text| APPROVED_BY.told(text),
    read: "
MATCH (e:Execution)-[a:APPROVED_BY]->(u:User) WHERE e.tenant IN $tenants
  AND ($after = 0 OR a.sequence > $after OR a.approvalId IN $ids)
RETURN e.tenant AS tenant, e.workspace AS workspace, a.approvalId AS approval, e.id AS execution, u.id AS user,
  a.callId AS call, toString(a.at) AS at, a.sequence AS sequence",
};

/// The edges of both kinds.
#[derive(Default)]
pub(super) struct Edges {
    invoked: Table,
    approved_by: Table,
}

impl Edges {
    /// Folds a fact.
    pub(super) fn take_in(&mut self, fact: &Fact, event: &Event, part: Part) -> Result<(), StoreError> {
        let (mut invocations, mut approvals) = (Invocations::default(), Approvals::default());
        invocations.take(fact, event).map_err(|cause| refused(NAME, cause))?;
        approvals.take(fact, event);
        for row in invocations.into_rows() {
            add(&mut self.invoked, &INVOKED, row, part)?;
        }
        for row in approvals.into_rows() {
            add(&mut self.approved_by, &APPROVED_BY, row, part)?;
        }
        Ok(())
    }
}

fn add(
    table: &mut Table,
    kind: &Kind,
    row: Vec<(&'static str, BoltType)>,
    part: Part,
) -> Result<(), StoreError> {
    let (key, row) = kind
        .row(row.into_iter().map(|(name, value)| (name.to_owned(), plain(value))).collect())
        .map_err(|id| refused(NAME, format!("an edge {} of {id}, which is no UUID", kind.name)))?;
    if part.has(key.2) {
        table.insert(key, row);
    }
    Ok(())
}

/// Compares both kinds.
pub(super) async fn compare(
    store: &Neo4j,
    expected: &mut Expected,
    cursor: u64,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let Edges { invoked, approved_by } = std::mem::take(&mut expected.edges);
    let tenants: Vec<String> = expected.tenants.iter().map(ToString::to_string).collect();
    for (kind, edges) in [(&INVOKED, invoked), (&APPROVED_BY, approved_by)] {
        let place = Place { store: NAME, table: kind.name };
        let mut comparison = Comparison::new(place, kind.told, cursor, edges, findings);
        let mut strange = Vec::new();
        let mut wanted = (comparison.after().cast_signed(), Vec::new());
        loop {
            let (after, ids) = wanted;
            let read = query(kind.read).param("tenants", tenants.clone()).param("after", after);
            let read = read.param("ids", ids.iter().map(Uuid::to_string).collect::<Vec<_>>());
            let mut found = store.graph.execute(read).await.map_err(|error| explain(&error))?;
            while let Some(row) = found.next().await.map_err(|error| explain(&error))? {
                match kind.row(row.to().map_err(|error| refused(NAME, error))?) {
                    Ok((key, row)) if expected.part.has(key.2) => comparison.found(key, &row),
                    Ok(_) => {}
                    Err(id) => strange.push(id),
                }
            }
            let lacking = comparison.lacking();
            if after == i64::MAX || lacking.is_empty() {
                break;
            }
            wanted = (i64::MAX, lacking);
        }
        comparison.end();
        if expected.part.number == 0 {
            strange.into_iter().for_each(|id| findings.differs(place, None, id, What::Extra));
        }
    }
    Ok(())
}

impl Kind {
    /// Reads an edge out of its columns. The error is what stands where a UUID must be: nobody wrote that from facts.
    fn row(&self, mut columns: BTreeMap<String, Value>) -> Result<(Key, Row), String> {
        let mut id = |name: &str| {
            let value = columns.remove(name).unwrap_or_default();
            let id = value.as_str().and_then(|text| text.parse::<Uuid>().ok());
            id.ok_or_else(|| format!("{name} {value}"))
        };
        let key = (id("tenant")?, id("workspace")?, id(self.id)?);
        let sequence = columns.remove("sequence").and_then(|value| value.as_u64()).unwrap_or_default();
        let column = |name: &&'static str| {
            let value = columns.remove(*name).unwrap_or_default();
            if ["started", "finished", "at"].contains(name) { time(value) } else { value }
        };
        let columns: Value = self.columns.iter().map(column).collect();
        Ok((key, Row { sequence, text: columns.to_string() }))
    }

    fn told(&self, text: &str) -> Vec<(&'static str, Value)> {
        let values: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        self.columns.iter().copied().zip(values).collect()
    }
}

/// A time in one form.
fn time(value: Value) -> Value {
    let time = value.as_str().and_then(|text| text.parse::<DateTime<Utc>>().ok());
    time.map_or(value, |time| time.to_rfc3339_opts(SecondsFormat::Nanos, true).into())
}

/// A parameter as JSON; edges have words, numbers and nothing.
fn plain(value: BoltType) -> Value {
    match value {
        BoltType::String(text) => text.value.into(),
        BoltType::Integer(number) => number.value.into(),
        BoltType::Boolean(yes) => yes.value.into(),
        _ => Value::Null,
    }
}
