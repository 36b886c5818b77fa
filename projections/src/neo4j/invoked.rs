//! `(:Execution)-[:INVOKED]->(:ToolVersion)`: one edge per call that ended. Fed by tool calls; read by analysts.

use std::collections::BTreeMap;

use neo4rs::{BoltType, Query, query};
use oxagen_domain::tool_call::CallRecord;
use oxagen_domain::{Event, Fact};
use uuid::Uuid;

use super::list;

/// An edge keeps what its latest fact says; a repeat of an earlier one changes nothing.
const MERGE: &str = "
UNWIND $rows AS row
MERGE (e:Execution {id: row.execution})
  ON CREATE SET e.tenant = row.tenant, e.workspace = row.workspace, e.conversationId = row.conversation,
    e.turnId = row.turn, e.kind = CASE WHEN row.turn IS NULL THEN 'direct' ELSE 'turn' END
MERGE (v:ToolVersion {tenant: row.tenant, workspace: row.workspace, id: row.version})
  ON CREATE SET v.capability = row.capability
MERGE (e)-[i:INVOKED {callId: row.call}]->(v)
WITH row, i WHERE coalesce(i.sequence, 0) < row.sequence
SET i.capability = row.capability, i.status = row.status, i.attempt = row.attempt, i.latencyMs = row.latency,
  i.startedAt = datetime(row.started), i.finishedAt = datetime(row.finished), i.sequence = row.sequence";

/// An edge of that call between others than it must be.
const UNTIE: &str = "
UNWIND $rows AS row
MATCH (e)-[i:INVOKED {callId: row.call}]->(v) WHERE e.id <> row.execution OR v.id <> row.version
DELETE i";

const REWRITE: &str = "
UNWIND $rows AS row
MERGE (e:Execution {id: row.execution})
SET e.tenant = row.tenant, e.workspace = row.workspace, e.conversationId = row.conversation, e.turnId = row.turn,
  e.kind = CASE WHEN row.turn IS NULL THEN 'direct' ELSE 'turn' END, e.generation = $generation
MERGE (v:ToolVersion {tenant: row.tenant, workspace: row.workspace, id: row.version})
SET v.capability = row.capability, v.generation = $generation
MERGE (e)-[i:INVOKED {callId: row.call}]->(v)
SET i.generation = $generation
WITH row, i WHERE NOT coalesce(row.sequence < i.sequence AND i.sequence <= $head, false)
SET i.capability = row.capability, i.status = row.status, i.attempt = row.attempt, i.latencyMs = row.latency,
  i.startedAt = datetime(row.started), i.finishedAt = datetime(row.finished), i.sequence = row.sequence";

/// The calls that ended in a batch, each as it ended last.
#[derive(Default)]
pub(crate) struct Invocations(BTreeMap<Uuid, Vec<(&'static str, BoltType)>>);

impl Invocations {
    /// Takes in a fact. The error says what is wrong with it.
    pub(crate) fn take(&mut self, fact: &Fact, event: &Event) -> Result<(), String> {
        let Event::ToolCall(event) = event else { return Ok(()) };
        let Some(record) = event.record() else { return Ok(()) };
        let id = &fact.aggregate_id;
        let call =
            id.parse().map_err(|_| format!("fact {} is of call `{id}`, which is no UUID", fact.seq))?;
        self.0.insert(call, row(fact, call, record));
        Ok(())
    }

    /// The rows, for who compares them with the edges.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Vec<(&'static str, BoltType)>> {
        self.0.into_values()
    }

    /// The statements that make the edges whatever is there.
    pub(super) fn rewrite(self) -> Vec<Query> {
        let rows: Vec<_> = self.0.into_values().collect();
        let with = |text: &str| query(text).param("rows", list(rows.clone()));
        if rows.is_empty() { Vec::new() } else { vec![with(UNTIE), with(REWRITE)] }
    }

    /// The statement that makes the edges; `None` if there are none.
    pub(crate) fn query(self) -> Option<Query> {
        let rows: Vec<_> = self.0.into_values().collect();
        (!rows.is_empty()).then(|| query(MERGE).param("rows", list(rows)))
    }
}

fn row(fact: &Fact, call: Uuid, record: &CallRecord) -> Vec<(&'static str, BoltType)> {
    vec![
        ("tenant", fact.tenant_id.to_string().into()),
        ("workspace", fact.workspace_id.to_string().into()),
        ("conversation", record.conversation_id.map(|id| id.to_string()).into()),
        ("turn", record.turn_id.map(|id| id.to_string()).into()),
        ("execution", record.execution_id.to_string().into()),
        ("call", call.to_string().into()),
        ("capability", record.capability.clone().into()),
        ("version", record.tool_version_id.to_string().into()),
        ("status", record.status.name().into()),
        ("attempt", i64::from(record.attempt).into()),
        ("latency", record.latency_ms.cast_signed().into()),
        ("started", record.started_at.map(|at| at.to_rfc3339()).into()),
        ("finished", record.finished_at.to_rfc3339().into()),
        ("sequence", fact.seq.cast_signed().into()),
    ]
}
