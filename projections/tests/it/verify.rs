//! What differs is found and named; what is equal is called equal, also while things go on.

use neo4rs::{Graph, query};
use oxagen_domain::Fact;
use oxagen_projections::verify::{Difference, Report, Verifier, VerifyOptions, What};
use serde_json::json;
use sqlx::{Connection, Executor};

use crate::story::{Story, Talk};
use crate::world::{World, clickhouse_client, superuser, take, variable};

pub(crate) async fn verifier(world: &World) -> Verifier {
    Verifier::new(world.journal.clone())
        .with_stream(world.bus.clone())
        .with_postgres(world.postgres())
        .with_clickhouse(world.clickhouse().await)
        .with_neo4j(world.neo4j().await)
}

pub(crate) async fn verify(world: &World) -> Report {
    verifier(world).await.run(&VerifyOptions::default()).await.unwrap()
}

/// Everything that stories tell, in every store.
async fn told(world: &World) -> (Story, Talk, Vec<Fact>) {
    let mut story = Story::new();
    let talk = story.turn();
    story.held_turn();
    story.direct_call();
    story.doubtful_call();
    let facts = world.commit(&mut story).await;
    world.publish().await;
    take(&world.postgres(), &facts).await;
    take(&world.clickhouse().await, &facts).await;
    take(&world.neo4j().await, &facts).await;
    (story, talk, facts)
}

async fn postgres(world: &World, sql: &str) {
    let mut connection = superuser(&world.name).await;
    assert_eq!(connection.execute(sql).await.unwrap().rows_affected(), 1, "{sql}");
    connection.close().await.unwrap();
}

async fn clickhouse(world: &World, sql: &str) {
    clickhouse_client().with_database(&world.name).query(sql).execute().await.unwrap();
}

async fn neo4j(cypher: &str) {
    let (url, user, password) = (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
    Graph::new(url, user, password).unwrap().run(query(cypher)).await.unwrap();
}

fn find<'r>(report: &'r Report, table: &str, id: impl ToString) -> &'r Difference {
    let id = id.to_string();
    let found = report.differences.iter().find(|difference| difference.table == table && difference.id == id);
    found.unwrap_or_else(|| panic!("{table} {id} is not named: {report:#?}"))
}

fn columns(difference: &Difference) -> Vec<&'static str> {
    match &difference.what {
        What::Changed { columns } => columns.iter().map(|column| column.column).collect(),
        What::Missing | What::Extra | What::Unreadable { .. } => panic!("{difference:?}"),
    }
}

#[tokio::test]
async fn what_was_projected_is_equal() {
    let world = World::new().await;
    let (story, _, facts) = told(&world).await;
    let report = verify(&world).await;
    assert!(report.is_equal() && report.is_complete(), "{report:#?}");
    assert_eq!((report.head, report.until), (facts.len() as u64, facts.len() as u64));
    for (store, table, rows) in [
        ("journal", "events", facts.len()),
        ("stream", "FACTS", facts.len()),
        ("postgres", "execution.tool_calls", 4),
        ("postgres", "chat.messages", 4),
        ("clickhouse", "events", facts.len()),
        ("clickhouse", "tool_invocations", 3),
        ("neo4j", "INVOKED", 3),
        ("neo4j", "APPROVED_BY", 1),
    ] {
        let tally = report.tables.iter().find(|tally| tally.store == store && tally.table == table).unwrap();
        assert_eq!((tally.tenant_id, tally.found.rows), (story.scope.tenant, rows as u64), "{store} {table}");
        assert_eq!(tally.expected, tally.found);
    }
    world.end().await;
}

#[tokio::test]
async fn each_difference_is_named() {
    let world = World::new().await;
    let (story, talk, _) = told(&world).await;
    let tenant = story.scope.tenant;
    let (call, approval) = (talk.call, talk.approval);
    postgres(&world, &format!("delete from chat.messages where id = '{}'", talk.answer)).await;
    postgres(&world, &format!("update execution.tool_calls set status = 'failed' where id = '{call}'")).await;
    postgres(
        &world,
        "insert into agent.agents (tenant_id, workspace_id, id, name, sequence)
        select tenant_id, workspace_id, gen_random_uuid(), 'nobody', 1 from agent.agents limit 1",
    )
    .await;
    clickhouse(&world, &format!("delete from tool_invocations where call_id = '{call}'")).await;
    clickhouse(
        &world,
        "alter table token_usage update input_tokens = 11 where step = 1 settings mutations_sync = 1",
    )
    .await;
    neo4j(&format!("MATCH ()-[i:INVOKED {{callId: '{call}'}}]->() DELETE i")).await;
    neo4j(&format!("MATCH ()-[a:APPROVED_BY {{approvalId: '{approval}'}}]->() SET a.callId = 'other'")).await;
    neo4j(&format!(
        "MATCH (e:Execution {{tenant: '{tenant}'}})-[:INVOKED]->(v) WITH e, v LIMIT 1
         CREATE (e)-[:INVOKED {{callId: 'nobody of {tenant}', sequence: 1}}]->(v)"
    ))
    .await;

    let report = verify(&world).await;
    assert!(!report.is_equal() && report.is_complete(), "{report:#?}");
    assert_eq!(find(&report, "INVOKED", format!("call \"nobody of {tenant}\"")).what, What::Extra);
    assert_eq!(find(&report, "chat.messages", talk.answer).what, What::Missing);
    let changed = find(&report, "execution.tool_calls", call);
    assert_eq!((columns(changed), changed.tenant_id), (vec!["status"], Some(tenant)));
    let What::Changed { columns: status } = &changed.what else { unreachable!() };
    assert_eq!((&status[0].expected, &status[0].found), (&json!("completed"), &json!("failed")));
    assert!(report.differences.iter().any(|one| one.table == "agent.agents" && one.what == What::Extra));
    assert_eq!(find(&report, "tool_invocations", call).what, What::Missing);
    let usage: Vec<_> = report.differences.iter().filter(|one| one.table == "token_usage").collect();
    assert!(!usage.is_empty() && usage.iter().all(|one| columns(one) == ["input_tokens"]), "{usage:?}");
    assert_eq!(find(&report, "INVOKED", call).what, What::Missing);
    assert_eq!(columns(find(&report, "APPROVED_BY", approval)), ["call"]);
    assert_eq!(report.differing, 7 + usage.len() as u64, "{report:#?}");

    let elsewhere = VerifyOptions { tenant: Some(Story::new().scope.tenant), ..VerifyOptions::default() };
    assert!(verifier(&world).await.run(&elsewhere).await.unwrap().is_equal());
    let one = VerifyOptions { limit: 1, ..VerifyOptions::default() };
    let short = verifier(&world).await.run(&one).await.unwrap();
    assert_eq!((short.differences.len(), short.differing), (1, report.differing));
    world.end().await;
}

#[tokio::test]
async fn a_hole_in_history_is_named() {
    let world = World::new().await;
    let (_, _, facts) = told(&world).await;
    let first = facts.iter().find(|fact| fact.kind == "tool_call.requested").unwrap();
    postgres(&world, &format!("delete from journal.sequence where seq = {}", first.seq)).await;
    let report = Verifier::new(world.journal.clone()).run(&VerifyOptions::default()).await.unwrap();
    assert_eq!(find(&report, "sequence", first.seq).what, What::Missing);
    let next =
        facts.iter().find(|fact| fact.aggregate_id == first.aggregate_id && fact.seq > first.seq).unwrap();
    assert_eq!(columns(find(&report, "events", next.seq)), ["aggregateVersion"]);
    // What the stream has and the journal has not is named as well.
    let report = verify(&world).await;
    assert_eq!(find(&report, "FACTS", first.seq).what, What::Extra);
    world.end().await;
}

#[tokio::test]
async fn a_window_restricts_and_a_store_behind_is_no_difference() {
    let world = World::new().await;
    let (mut story, talk, facts) = told(&world).await;
    let head = facts.last().unwrap().seq;
    // Not projected yet.
    story.turn();
    world.commit(&mut story).await;
    let behind = verify(&world).await;
    assert!(behind.is_equal(), "{behind:#?}");

    postgres(&world, &format!("delete from execution.tool_calls where id = '{}'", talk.call)).await;
    let last = facts.iter().rfind(|fact| fact.aggregate_id == talk.call.to_string()).unwrap().seq;
    let verifier = verifier(&world).await;
    let inside = VerifyOptions { after: last - 1, until: Some(last), ..VerifyOptions::default() };
    assert_eq!(verifier.run(&inside).await.unwrap().differing, 1);
    let later = VerifyOptions { after: last, until: Some(head), ..VerifyOptions::default() };
    assert!(verifier.run(&later).await.unwrap().is_equal());
    world.end().await;
}
