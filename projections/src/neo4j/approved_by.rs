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

/// The approvals that were given in a batch.
#[derive(Default)]
pub(super) struct Approvals(Vec<Vec<(&'static str, BoltType)>>);

impl Approvals {
    /// Takes in a fact.
    pub(super) fn take(&mut self, fact: &Fact, event: &Event) {
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

    /// The statement that makes the edges; `None` if there are none.
    pub(super) fn query(self) -> Option<Query> {
        (!self.0.is_empty()).then(|| query(MERGE).param("rows", list(self.0)))
    }
}
