//! Facts: the same everywhere, each of them once, in one order.
//!
//! Covers `agent.history.read`.

use futures::future::join_all;
use oxagen_tests::{Rows, reply, scenario, until, word, world};
use reqwest::Method;
use serde_json::{Value, json};

use crate::road;

#[tokio::test]
async fn f31_every_reader_sees_every_fact() {
    let world = world();
    let (workspace, plain) = (world.workspace().await, word("plain"));
    world.script(scenario(&plain, vec![reply("Yes.", vec![])]));
    let looks = word("looks");
    world.script(road::looks(&looks));
    let turns = (0..20).map(|nth| {
        let (workspace, word) = (workspace.clone(), if nth % 2 == 0 { plain.clone() } else { looks.clone() });
        async move { workspace.talk(&word).await }
    });
    join_all(turns).await;

    let rows = Rows::of(&world.installation).await;
    let (tenant, whole) = (&workspace.tenant, "select count(*) as count from");
    // The last facts may still be on their way.
    let journal = until("as many rows of events in ClickHouse as the journal has facts", async || {
        let written = rows.postgres(&format!("{whole} journal.events where tenant_id = '{tenant}'")).await;
        let counted = rows.clickhouse(&format!("select count() as count, uniqExact(sequence) as places from events_final where tenant_id = '{tenant}'")).await;
        let journal = written[0]["count"].as_u64()?;
        (counted[0] == json!({"count": journal, "places": journal})).then_some(journal)
    })
    .await;
    let calls =
        format!("{whole} journal.events where tenant_id = '{tenant}' and event_type = 'tool_call.requested'");
    let calls = rows.postgres(&calls).await[0]["count"].as_u64().unwrap();
    assert_eq!(calls, 10);
    until("ten rows of tool_calls", async || {
        let sql =
            format!("{whole} execution.tool_calls where tenant_id = '{tenant}' and status = 'completed'");
        (rows.postgres(&sql).await[0]["count"] == calls).then_some(())
    })
    .await;
    until("ten rows of tool_invocations", async || {
        let sql = format!("select count() as count from tool_invocations_final where tenant_id = '{tenant}'");
        (rows.clickhouse(&sql).await[0]["count"] == calls).then_some(())
    })
    .await;
    until("ten INVOKED edges", async || {
        let cypher = "MATCH (:Execution {tenant: $tenant})-[i:INVOKED]->() RETURN count(i) AS count";
        (rows.neo4j(cypher, tenant).await[0]["count"] == calls).then_some(())
    })
    .await;

    // The workspace's history over HTTP is the same: ascending, paged, each fact once.
    let mut seqs: Vec<u64> = Vec::new();
    loop {
        let path = format!("/v1/events?after={}&limit=37", seqs.last().unwrap_or(&0));
        let page = workspace.http.get(&path).await.expect(200);
        seqs.extend(page["items"].as_array().unwrap().iter().map(|fact| fact["seq"].as_u64().unwrap()));
        if page.get("nextCursor").is_none() {
            break;
        }
    }
    assert_eq!(seqs.len() as u64, journal);
    assert!(seqs.is_sorted_by(|a, b| a < b));
}

#[tokio::test]
async fn a_fact_says_who_what_where_and_because_of_what() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("fact"));
    world.script(road::looks(&word));
    let (turn, _) = workspace.talk(&word).await;
    workspace.settled(&turn, "completed").await;
    let facts = workspace.facts(&turn.conversation).await;
    let correlation = &facts[0]["correlationId"];
    for fact in &facts {
        for member in [
            "seq",
            "eventId",
            "type",
            "version",
            "aggregateType",
            "aggregateId",
            "aggregateVersion",
            "tenantId",
            "workspaceId",
            "conversationId",
            "actor",
            "causationId",
            "correlationId",
            "occurredAt",
            "payload",
        ] {
            assert!(!fact[member].is_null(), "no {member}: {fact}");
        }
        assert_eq!(
            (&fact["tenantId"], &fact["workspaceId"]),
            (&json!(workspace.tenant), &json!(workspace.id))
        );
        assert_eq!(&fact["correlationId"], correlation, "one cause: {fact}");
        assert!(
            fact["traceparent"].as_str().is_some_and(|parent| parent.starts_with("00-")),
            "one trace: {fact}"
        );
    }
    let traces: std::collections::BTreeSet<_> =
        facts.iter().map(|fact| fact["traceparent"].as_str().unwrap()[3..35].to_owned()).collect();
    assert_eq!(traces.len(), 1, "{traces:?}");

    let only = workspace
        .http
        .get(&format!("/v1/events?conversation={}&type=tool_call.*", turn.conversation))
        .await
        .expect(200);
    let kinds: Vec<_> =
        only["items"].as_array().unwrap().iter().map(|fact| fact["type"].as_str().unwrap()).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| kind.starts_with("tool_call.")), "{kinds:?}");
    let same =
        workspace.http.get(&format!("/v1/conversations/{}/events", turn.conversation)).await.expect(200);
    assert_eq!(same["items"], Value::Array(facts));
}

#[tokio::test]
async fn the_program_replays_a_conversation_as_it_was() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("replay"));
    world.script(road::looks(&word));
    let (turn, _) = workspace.talk(&word).await;
    workspace.settled(&turn, "completed").await;
    let facts = workspace.facts(&turn.conversation).await;
    let key = workspace.http.key.clone().unwrap();
    let own = [("OXAGEN_URL", world.url()), ("OXAGEN_API_KEY", key.as_str())];
    let printed =
        world.installation.run(&["replay", "--conversation", &turn.conversation], &own).await.done();
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, facts);
}

/// F30: a hundred commands at once on one aggregate, half of them at each of two gateways.
#[tokio::test]
async fn f30_a_hundred_at_once_on_one_conversation_are_versions_one_to_n() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("hundred"));
    world.script(scenario(&word, vec![reply("Yes.", vec![])]));
    let (turn, _) = workspace.talk(&word).await;
    let other = world.installation.start(&["gateway"]).await;
    let gateways = [workspace.clone(), workspace.at(&other.url)];
    let path = format!("/v1/conversations/{}", turn.conversation);
    let renames = (0..100).map(|nth| {
        let http = &gateways[nth % 2].http;
        http.send(http.request(Method::PATCH, &path).json(&json!({"title": format!("title {nth}")})))
    });
    let statuses: Vec<_> = join_all(renames).await.into_iter().map(|answer| answer.status).collect();
    assert!(statuses.iter().all(|status| matches!(status, 204 | 409)), "{statuses:?}");
    let renamed = statuses.iter().filter(|status| **status == 204).count();
    let facts = until("a fact for each rename", async || {
        let facts = workspace.facts(&turn.conversation).await;
        (facts.iter().filter(|fact| fact["type"] == "conversation.renamed").count() == renamed)
            .then_some(facts)
    })
    .await;
    road::sound(&facts);
}
