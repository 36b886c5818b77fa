//! What must hold after everything, whoever died: the journal, the stream and the three stores say the same.

use async_nats::jetstream;
use serde_json::{Value, json};

use super::crew::Crew;
use super::person::Walked;
use super::tale::{EDITED, Tale};
use crate::container::Containers;
use crate::installation::Installation;
use crate::rows::Rows;
use crate::wait::{PATIENCE, until};

/// Reads the stores past our own code.
pub(super) struct Checker {
    rows: Rows,
    containers: Containers,
    nats: String,
    stream: String,
}

impl Checker {
    pub(super) async fn of(installation: &Installation) -> Self {
        Self {
            rows: Rows::of(installation).await,
            containers: Containers::at(&installation.servers.docker_host),
            nats: installation.servers.nats_url.split(',').next().unwrap().to_owned(),
            stream: format!("{}_FACTS", installation.name),
        }
    }

    /// The name of the stream of facts on the server.
    pub(super) fn stream(&self) -> &str {
        &self.stream
    }

    /// The stores were restarted: connections of before are of no use.
    pub(super) async fn reconnect(&mut self, installation: &Installation) {
        self.rows = Rows::of(installation).await;
    }

    /// One conversation, and the history that it is part of.
    pub(super) async fn check(&self, crew: &Crew, tale: Tale, walked: &Walked, statuses: &[&str]) {
        let facts = crew.person.facts(&walked.turn.conversation).await;
        let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
        assert_eq!(walked.ids(), seqs, "the screen was sent the conversation's facts, each once, in order");
        let calls = walked.calls();
        assert_eq!(calls.len(), statuses.len(), "calls on the screen");
        for (call, status) in calls.iter().zip(statuses) {
            self.call(&crew.person.workspace.tenant, call, status).await;
        }
        self.conversation(walked, facts.len()).await;
        self.decided(tale, &calls).await;
        self.on_stream(&facts).await;
        self.no_container(&facts, &calls).await;
    }

    /// One row, one analytic row and one edge, all of them with the same end.
    async fn call(&self, tenant: &str, call: &str, status: &str) {
        let wanted = vec![json!({"status": status})];
        let sql =
            format!("select status from execution.tool_calls where tenant_id = '{tenant}' and id = '{call}'");
        same("execution.tool_calls", &wanted, async || self.rows.postgres(&sql).await).await;
        let sql = format!(
            "select status from tool_invocations_final where tenant_id = '{tenant}' and call_id = '{call}'"
        );
        same("tool_invocations", &wanted, async || self.rows.clickhouse(&sql).await).await;
        let cypher = format!(
            "MATCH (:Execution {{tenant: $tenant}})-[i:INVOKED {{callId: '{call}'}}]->() RETURN i.status AS status"
        );
        let edges = async || self.rows.neo4j(&cypher, tenant).await.into_iter().map(Value::Object).collect();
        same("INVOKED", &wanted, edges).await;
    }

    /// What a person has decided in this tale, as the rows of its last call tell it.
    async fn decided(&self, tale: Tale, calls: &[String]) {
        let call = calls.last().unwrap();
        let (sql, wanted) = match tale {
            Tale::Code | Tale::Network => return,
            Tale::Edited => (
                format!(
                    "select input->>'code' as code, original_input is null as untouched
                     from execution.tool_calls where id = '{call}'"
                ),
                json!({"code": EDITED, "untouched": false}),
            ),
            Tale::Planned => (
                format!(
                    "select p.status as plan, s.status as step, s.version
                     from agent.plan_steps s join agent.plans p on p.id = s.plan_id where s.call_id = '{call}'"
                ),
                json!({"plan": "approved", "step": "completed", "version": 1}),
            ),
        };
        same("what was decided", &[wanted], async || self.rows.postgres(&sql).await).await;
    }

    /// A call that a person has settled says so.
    pub(super) async fn settled(&self, call: &str) {
        let sql = format!(
            "select settled_as, output->>'found' as output from execution.tool_calls where id = '{call}'"
        );
        let wanted = json!({"settled_as": "done", "output": "by a person"});
        same("the settlement", &[wanted], async || self.rows.postgres(&sql).await).await;
    }

    /// The conversation's rows: its facts in ClickHouse, its two messages in Postgres.
    async fn conversation(&self, walked: &Walked, facts: usize) {
        let id = &walked.turn.conversation;
        let sql = format!(
            "select count() as rows, uniqExact(sequence) as places from events_final where conversation_id = '{id}'"
        );
        let wanted = vec![json!({"rows": facts, "places": facts})];
        same("events", &wanted, async || self.rows.clickhouse(&sql).await).await;
        let sql = format!("select count(*) as count from chat.messages where conversation_id = '{id}'");
        same("chat.messages", &[json!({"count": 2})], async || self.rows.postgres(&sql).await).await;
    }

    /// Numbers without a gap, and the same fact under each of them on the stream.
    async fn on_stream(&self, facts: &[Value]) {
        let sql = "select (select count(*) from journal.events) as events, count(*) as numbers,
                   min(seq) as first, max(seq) as last from journal.sequence";
        let head = until("a number for every event, 1, 2, 3 …", async || {
            let found = &self.rows.postgres(sql).await[0];
            let last = found["last"].as_u64().unwrap();
            let whole = json!({"events": last, "numbers": last, "first": 1, "last": last});
            (*found == whole).then_some(last)
        })
        .await;
        let context = jetstream::new(async_nats::connect(&self.nats).await.unwrap());
        let stream = context.get_stream(&self.stream).await.unwrap();
        until("every number on the stream", async || {
            let state = stream.get_info().await.ok()?.state;
            assert_eq!(
                state.messages,
                state.last_sequence + 1 - state.first_sequence,
                "a hole in the stream"
            );
            (state.last_sequence >= head).then_some(())
        })
        .await;
        let first = stream.get_info().await.unwrap().state.first_sequence;
        for fact in facts.iter().filter(|fact| fact["seq"].as_u64() >= Some(first)) {
            let message = stream.get_raw_message(fact["seq"].as_u64().unwrap()).await.unwrap();
            let body: Value = serde_json::from_slice(&message.payload).unwrap();
            assert_eq!(&body, fact, "the stream (left) and the journal (right)");
        }
    }

    /// Nothing is left of the calls, nor of the runners that are gone.
    async fn no_container(&self, facts: &[Value], calls: &[String]) {
        for call in calls {
            until(&format!("the container of call {call} being gone"), async || {
                self.containers.of_call(call).await.is_none().then_some(())
            })
            .await;
        }
        let mut runners: Vec<_> = facts
            .iter()
            .filter(|fact| fact["type"] == "turn.claimed" || fact["type"] == "turn.taken_over")
            .filter_map(|fact| fact["payload"]["runnerId"].as_str())
            .collect();
        // The last one lives.
        runners.sort_unstable();
        runners.dedup();
        let mut owners = Vec::new();
        for runner in runners {
            owners.push((runner, self.containers.of_runner(runner).await.len()));
        }
        if owners.len() > 1 {
            until("the containers of all runners but one being gone", async || {
                let mut left = 0;
                for (runner, _) in &owners {
                    left += usize::from(!self.containers.of_runner(runner).await.is_empty());
                }
                (left <= 1).then_some(())
            })
            .await;
        }
    }
}

/// Waits until the store says this; fails with what it says instead.
async fn same(store: &str, wanted: &[Value], mut read: impl AsyncFnMut() -> Vec<Value>) {
    let mut found = Vec::new();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < deadline {
        found = read().await;
        if found == wanted {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{store} holds {found:?} instead of {wanted:?}");
}
