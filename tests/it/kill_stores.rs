//! A store's network fails in the middle of the work: nobody else is delayed, nothing is lost, each fact counts once.

use std::time::Duration;

use futures::future::join_all;
use oxagen_tests::{EventStream, Installation, Proxy, ROLES, Rows, Workspace, until, word};
use serde_json::{Value, json};

use crate::road;

const PROJECTORS: &[&str] = &["projector-clickhouse"];
const OTHERS: &[&str] = &["gateway", "relay", "reactor", "runner", "projector-postgres", "projector-neo4j"];
/// Viewers of one conversation.
const VIEWERS: usize = 500;
/// Those that come at the same moment.
const AT_ONCE: usize = 25;
/// Requests that are given up midway.
const DROPPED: usize = 200;

/// What ClickHouse makes of the history, and what it is to make of it.
async fn each_fact_once(rows: &Rows, workspace: &Workspace) {
    let tenant = &workspace.tenant;
    let sql = format!("select count(*) as count from journal.sequence where tenant_id = '{tenant}'");
    let facts = rows.postgres(&sql).await[0]["count"].clone();
    let sql = format!(
        "select count() as rows, uniqExact(sequence) as places from events_final where tenant_id = '{tenant}'"
    );
    until("each fact once in ClickHouse", async || {
        (rows.clickhouse(&sql).await[0] == json!({"rows": facts, "places": facts})).then_some(())
    })
    .await;
    for (table, kind, key) in [
        ("tool_invocations_final", "tool_call.completed", "call_id"),
        ("token_usage_final", "turn.step_completed", "(turn_id, step)"),
    ] {
        let sql = format!(
            "select count(*) as count from journal.events where tenant_id = '{tenant}' and event_type = '{kind}'"
        );
        let wanted = rows.postgres(&sql).await[0]["count"].clone();
        let sql = format!(
            "select count() as rows, uniqExact({key}) as keys from {table} where tenant_id = '{tenant}'"
        );
        // Each table has its own insert, and none of them waits for another.
        until(&format!("each row once in {table}"), async || {
            (rows.clickhouse(&sql).await[0] == json!({"rows": wanted, "keys": wanted})).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f37_clickhouse_takes_the_rows_and_its_answer_is_lost() {
    let mut installation = Installation::new().await;
    let door = Proxy::to(&installation.servers.clickhouse_url).await;
    let first = installation.start(OTHERS).await;
    installation.settings.insert("CLICKHOUSE_URL".to_owned(), door.url());
    let mut projector = installation.start(PROJECTORS).await;
    let word = word("deaf");
    installation.model.add_scenarios(vec![road::looks(&word)]);
    let workspace = installation.workspace(&first.url).await;
    let rows = Rows::of(&installation).await;
    workspace.talk(&word).await;
    each_fact_once(&rows, &workspace).await;

    for killed in [false, true] {
        door.mute();
        let (turn, _) = workspace.talk(&word).await;
        // Which table is first depends on where the batch ends; the others wait for its answer.
        let of =
            |table| format!("(select count() from {table} where conversation_id = '{}')", turn.conversation);
        let sql = format!("select {} + {} as rows", of("events"), of("tool_invocations"));
        until("rows whose answer is lost", async || {
            (rows.clickhouse(&sql).await[0]["rows"] != 0).then_some(())
        })
        .await;
        // The batches that are sent again have other edges.
        workspace.talk(&word).await;
        if killed {
            projector.kill();
        }
        door.shut();
        workspace.talk(&word).await;
        door.open();
        if killed {
            projector = installation.start(PROJECTORS).await;
        }
        each_fact_once(&rows, &workspace).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f36_postgres_falls_silent_under_viewers_and_dropped_requests() {
    let mut installation = Installation::new().await;
    let door = Proxy::to(&installation.settings["DATABASE_URL"]).await;
    installation.settings.insert("DATABASE_URL".to_owned(), door.url());
    let process = installation.start_with(ROLES, &[("OXAGEN_REQUEST_TIMEOUT", "8")]).await;
    let word = word("silent");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let workspace = installation.workspace(&process.url).await;
    let (turn, _, asked) = road::ask(&workspace, &word).await;
    let mut viewers = Vec::new();
    while viewers.len() < VIEWERS {
        // A few at a time: a gateway that answers within eight seconds may turn away what a slow machine cannot do.
        let some = (0..AT_ONCE).map(|_| async {
            let mut events = workspace.events(&turn.conversation).await;
            events.until("turn-paused").await;
            events
        });
        viewers.extend(join_all(some).await);
    }

    door.stall();
    let path = format!("/v1/conversations/{}", turn.conversation);
    let given_up =
        (0..DROPPED).map(|_| tokio::time::timeout(Duration::from_millis(500), workspace.http.get(&path)));
    assert!(join_all(given_up).await.iter().all(Result::is_err), "nobody can answer now");
    // Those who wait are told in time, by everybody who would need the journal; a late turn leaves no time for more.
    let waiting = (0..20).map(|_| workspace.http.get(&path));
    for answer in join_all(waiting).await {
        let late = answer.json["code"] == "timeout";
        answer.problem(503, if late { "timeout" } else { "unavailable" });
    }
    door.open();

    // Permits came back, and every viewer is where it was.
    until("an answer", async || (workspace.http.get(&path).await.status == 200).then_some(())).await;
    until("a decision", async || {
        let answer = json!({"decision": "approve"});
        let answer = workspace.resolve(asked["approvalId"].as_str().unwrap(), &answer).await;
        (answer.status == 200).then_some(())
    })
    .await;
    let ends = viewers.into_iter().map(|mut events: EventStream| async move {
        let end = events.turn_end().await;
        (end.name, events.ids())
    });
    let ends = join_all(ends).await;
    let facts = workspace.facts(&turn.conversation).await;
    for (name, ids) in ends {
        assert_eq!(name, "turn-completed");
        let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).take(ids.len()).collect();
        assert_eq!(ids, seqs, "each viewer saw each fact once");
    }

    // And once more when every session is cut.
    let rows = Rows::of(&installation).await;
    let sql = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{}' and pid <> pg_backend_pid()
         and usename = 'oxagen'",
        installation.name
    );
    rows.postgres(&sql).await;
    let turn = until("a turn after all sessions were cut", async || {
        let answer = workspace.http.post("/v1/turns", &json!({"text": word})).await;
        (answer.status == 202).then_some(answer.json)
    })
    .await;
    let conversation = turn["conversationId"].as_str().unwrap().to_owned();
    // The pool may have more of the sessions that were cut.
    let mut events = until("a stream", async || workspace.try_events(&conversation).await).await;
    let asked: Value = events.until("approval-required").await.data;
    until("its decision", async || {
        let answer = json!({"decision": "approve"});
        let answer = workspace.resolve(asked["approvalId"].as_str().unwrap(), &answer).await;
        (answer.status == 200).then_some(())
    })
    .await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    // A runner that saw its session cut while the tool ran has let go of the call, and it ran again.
    let call = asked["callId"].as_str().unwrap();
    let facts = workspace.facts(&conversation).await;
    let started =
        facts.iter().filter(|fact| fact["type"] == "tool_call.started" && fact["aggregateId"] == call);
    road::one_of_each(&rows, &workspace.tenant, call, "completed", started.count() as u64).await;
}
