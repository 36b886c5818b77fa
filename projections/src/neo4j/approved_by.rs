//! `(:Execution)-[:APPROVED_BY]->(:User)`: one edge per approval that a person gave. Fed by approvals; read by
//! analysts.

use neo4rs::{BoltType, Query, query};
use oxagen_domain::{ApprovalEvent, Event, ExecutionId, Fact};

use super::list;

const MERGE: &str = "
UNWIND $rows AS row
MERGE (e:Execution {id: row.execution})
  ON CREATE SET e.tenant = row.tenant, e.workspace = row.workspace, e.conversationId = row.conversation,
    e.turnId = row.turn, e.kind = CASE WHEN row.turn IS NULL THEN 'direct' ELSE 'turn' END
MERGE (u:User {tenant: row.tenant, workspace: row.workspace, id: row.user})
MERGE (e)-[a:APPROVED_BY {approvalId: row.approval}]->(u)
SET a.callId = row.call, a.at = datetime(row.at), a.sequence = row.sequence";

/// An edge of that approval between others than it must be.
const UNTIE: &str = "
UNWIND $rows AS row
MATCH (e)-[a:APPROVED_BY {approvalId: row.approval}]->(u) WHERE e.id <> row.execution OR u.id <> row.user
DELETE a";

const REWRITE: &str = "
UNWIND $rows AS row
MERGE (e:Execution {id: row.execution})
SET e.tenant = row.tenant, e.workspace = row.workspace, e.conversationId = row.conversation, e.turnId = row.turn,
  e.kind = CASE WHEN row.turn IS NULL THEN 'direct' ELSE 'turn' END, e.generation = $generation
MERGE (u:User {tenant: row.tenant, workspace: row.workspace, id: row.user})
SET u.generation = $generation
MERGE (e)-[a:APPROVED_BY {approvalId: row.approval}]->(u)
SET a.callId = row.call, a.at = datetime(row.at), a.sequence = row.sequence, a.generation = $generation";

/// The approvals that were given in a batch.
#[derive(Default)]
pub(crate) struct Approvals(Vec<Vec<(&'static str, BoltType)>>);

impl Approvals {
    /// Takes in a fact.
    pub(crate) fn take(&mut self, fact: &Fact, event: &Event) {
        let Event::Approval(ApprovalEvent::Approved { call_id, by, at, .. }) = event else { return };
        let execution =
            fact.turn_id.map_or_else(|| ExecutionId::of_direct_call(*call_id), ExecutionId::of_turn);
        self.0.push(vec![
            ("tenant", fact.tenant_id.to_string().into()),
            ("workspace", fact.workspace_id.to_string().into()),
            ("conversation", fact.conversation_id.map(|id| id.to_string()).into()),
            ("turn", fact.turn_id.map(|id| id.to_string()).into()),
            ("execution", execution.to_string().into()),
            ("approval", fact.aggregate_id.clone().into()),
            ("user", by.to_string().into()),
            ("call", call_id.to_string().into()),
            ("at", at.to_rfc3339().into()),
            ("sequence", fact.seq.cast_signed().into()),
        ]);
    }

    /// The rows, for who compares them with the edges.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Vec<(&'static str, BoltType)>> {
        self.0.into_iter()
    }

    /// The statements that make the edges whatever is there.
    pub(super) fn rewrite(self) -> Vec<Query> {
        let with = |text: &str| query(text).param("rows", list(self.0.clone()));
        if self.0.is_empty() { Vec::new() } else { vec![with(UNTIE), with(REWRITE)] }
    }

    /// The statement that makes the edges; `None` if there are none.
    pub(crate) fn query(self) -> Option<Query> {
        (!self.0.is_empty()).then(|| query(MERGE).param("rows", list(self.0)))
    }
}
