//! The whole road, walked by one conversation, and what each store must know of it afterwards.

use std::collections::BTreeMap;

use oxagen_scripted_model::Scenario;
use oxagen_tests::{EventStream, Rows, Turn, Workspace, call, code, reply, scenario, until};
use serde_json::{Value, json};

/// What the agent's code prints.
pub(crate) const PRINTED: &str = "counting\n42\n";
/// The code itself.
pub(crate) const CODE: &str = "import time\nprint('counting', flush=True)\ntime.sleep(1)\nprint(6 * 7)";

/// A conversation that has walked the road.
pub(crate) struct Walked {
    pub(crate) turn: Turn,
    pub(crate) events: EventStream,
    pub(crate) call: String,
    pub(crate) approval: String,
}

/// The model wants to compute and then says what came out.
pub(crate) fn computes(word: &str) -> Scenario {
    let answer = reply("It is {{lastToolResult.stdout.lastLine}}.", vec![]);
    scenario(word, vec![reply("I will compute it.", vec![code(CODE)]), answer])
}

/// The model looks at its tools and answers: a turn that needs nobody.
pub(crate) fn looks(word: &str) -> Scenario {
    let look = reply("Let me look.", vec![call("agent_tool_list", json!({}))]);
    scenario(word, vec![look, reply("I have looked.", vec![])])
}

/// Says something that makes the model ask for code, and waits until the turn is paused for the approval.
pub(crate) async fn ask(workspace: &Workspace, text: &str) -> (Turn, EventStream, Value) {
    let turn = workspace.say(text).await;
    let mut events = workspace.events(&turn.conversation).await;
    let asked = events.until("approval-required").await.data;
    events.until("turn-paused").await;
    (turn, events, asked)
}

/// Asks, approves, and reads to the end.
pub(crate) async fn walk(workspace: &Workspace, text: &str) -> Walked {
    let (turn, mut events, asked) = ask(workspace, text).await;
    let id = |name: &str| asked[name].as_str().unwrap().to_owned();
    let (call, approval) = (id("callId"), id("approvalId"));
    workspace.approve(&approval).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    events.rest().await;
    sound(&workspace.facts(&turn.conversation).await);
    Walked { turn, events, call, approval }
}

/// What must hold of any history: facts ascending, the versions of each aggregate 1, 2, 3 …, and one end for each call
/// that was requested.
pub(crate) fn sound(facts: &[Value]) {
    let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    let mut versions = BTreeMap::<&str, u64>::new();
    let mut ends = BTreeMap::<&str, u32>::new();
    for fact in facts {
        let id = fact["aggregateId"].as_str().unwrap();
        let version = versions.entry(id).or_default();
        *version += 1;
        assert_eq!(fact["aggregateVersion"], *version, "{fact}");
        match fact["type"].as_str().unwrap() {
            "tool_call.requested" => drop(ends.insert(id, 0)),
            "tool_call.completed"
            | "tool_call.failed"
            | "tool_call.cancelled"
            | "tool_call.denied"
            | "tool_call.in_doubt" => *ends.get_mut(id).unwrap() += 1,
            _ => {}
        }
    }
    assert!(ends.values().all(|ends| *ends == 1), "each call has one end: {ends:?}");
}

/// The one row in this store; fails saying which store has none, or another.
pub(crate) async fn one_row(what: &str, mut read: impl AsyncFnMut() -> Vec<Value>) -> Value {
    let rows = until(what, async || Some(read().await).filter(|rows| !rows.is_empty())).await;
    assert_eq!(rows.len(), 1, "{what}: {rows:?}");
    rows[0].clone()
}

/// How a call stands by its last fact.
pub(crate) fn last_of(facts: &[Value], call: &str) -> String {
    let last = facts.iter().rfind(|fact| fact["aggregateId"] == call).unwrap();
    last["type"].as_str().unwrap().replace("tool_call.", "")
}

/// How a call stands, and after which attempt, by each row, analytic row and edge that there is of it.
pub(crate) async fn told_of(rows: &Rows, tenant: &str, call: &str) -> Vec<(String, u64)> {
    let of = format!("where tenant_id = '{tenant}'");
    let sql = format!("select status, attempt from execution.tool_calls {of} and id = '{call}'");
    let mut told = rows.postgres(&sql).await;
    let sql = format!("select status, attempt from tool_invocations_final {of} and call_id = '{call}'");
    told.extend(rows.clickhouse(&sql).await);
    let cypher = format!(
        "MATCH (:Execution {{tenant: $tenant}})-[i:INVOKED {{callId: '{call}'}}]->(:ToolVersion)
         RETURN i.status AS status, i.attempt AS attempt"
    );
    told.extend(rows.neo4j(&cypher, tenant).await.into_iter().map(Value::Object));
    let pair = |row: &Value| (row["status"].as_str().unwrap().to_owned(), row["attempt"].as_u64().unwrap());
    told.iter().map(pair).collect()
}

/// One row, one analytic row and one edge for the call, all of them with how it ended and after which attempt.
pub(crate) async fn one_of_each(rows: &Rows, tenant: &str, call: &str, status: &str, attempt: u64) -> Value {
    let ended = |row: &Value| row["status"] == status;
    let sql = format!("select * from execution.tool_calls where tenant_id = '{tenant}' and id = '{call}'");
    let row = one_row("a row of execution.tool_calls with that end", async || {
        rows.postgres(&sql).await.into_iter().filter(ended).collect()
    })
    .await;
    let sql =
        format!("select * from tool_invocations_final where tenant_id = '{tenant}' and call_id = '{call}'");
    let invocation = one_row("a row of tool_invocations with that end", async || {
        rows.clickhouse(&sql).await.into_iter().filter(ended).collect()
    })
    .await;
    let cypher = format!(
        "MATCH (e:Execution {{tenant: $tenant}})-[i:INVOKED {{callId: '{call}'}}]->(v:ToolVersion)
         RETURN i.status AS status, i.attempt AS attempt, v.id AS version, e.id AS execution"
    );
    let edge = one_row("an INVOKED edge with that end", async || {
        let edges = rows.neo4j(&cypher, tenant).await.into_iter().map(Value::Object);
        edges.filter(ended).collect()
    })
    .await;
    for (store, found) in [("Postgres", &row), ("ClickHouse", &invocation), ("Neo4j", &edge)] {
        assert_eq!(found["attempt"], attempt, "attempts in {store}: {found}");
    }
    assert_eq!(invocation["latency_ms"], row["latency_ms"]);
    assert_eq!((&edge["execution"], &edge["version"]), (&row["execution_id"], &row["tool_version_id"]));
    row
}
