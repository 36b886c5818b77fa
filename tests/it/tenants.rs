//! Tenants: what belongs to another one does not exist, in no answer and in no row.

use oxagen_tests::{Http, Rows, until, word, world};
use reqwest::Method;
use serde_json::{Value, json};

use crate::road;

#[tokio::test]
async fn f40_foreign_ids_are_not_found_and_nothing_happens() {
    let world = world();
    let (ours, theirs, word) = (world.workspace().await, world.workspace().await, word("foreign"));
    world.script(road::computes(&word));
    let (turn, mut events, asked) = road::ask(&ours, &word).await;
    let id = |name: &str| asked[name].as_str().unwrap().to_owned();
    let (call, approval) = (id("callId"), id("approvalId"));
    ours.http.get(&format!("/v1/tool-calls/{call}")).await.expect(200);

    let conversation = &turn.conversation;
    let reads = [
        format!("/v1/turns/{}", turn.id),
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/events"),
        format!("/v1/conversations/{conversation}/stream"),
        format!("/v1/tool-calls/{call}"),
        format!("/v1/workspaces/{}/stream", ours.id),
    ];
    for path in &reads {
        theirs.http.get(path).await.problem(404, "not_found");
        Http::open(world.url()).get(path).await.problem(401, "unauthorized");
    }
    let writes = [
        (format!("/v1/turns/{}/cancel", turn.id), json!({})),
        (format!("/v1/conversations/{conversation}/archive"), json!({})),
        (format!("/v1/tool-calls/{call}/cancel"), json!({})),
        (format!("/v1/approvals/{approval}/resolve"), json!({"decision": "approve"})),
        (format!("/v1/approvals/{approval}/resolve"), json!({"decision": "deny"})),
        ("/v1/turns".to_owned(), json!({"conversationId": conversation, "text": "hello"})),
    ];
    for (path, body) in &writes {
        theirs.http.post(path, body).await.problem(404, "not_found");
        Http::open(world.url()).post(path, body).await.problem(401, "unauthorized");
    }
    let rename = theirs
        .http
        .request(Method::PATCH, &format!("/v1/conversations/{conversation}"))
        .json(&json!({"title": "x"}));
    theirs.http.send(rename).await.problem(404, "not_found");
    let mine = ours.http.get("/v1/me").await.expect(200);
    let revoke =
        theirs.http.request(Method::DELETE, &format!("/v1/keys/{}", mine["keyId"].as_str().unwrap()));
    theirs.http.send(revoke).await.problem(404, "not_found");
    for list in ["/v1/conversations", "/v1/approvals?status=open"] {
        assert_eq!(theirs.http.get(list).await.expect(200)["items"], json!([]), "{list}");
    }
    let foreign = theirs.http.get(&format!("/v1/events?conversation={conversation}")).await.expect(200);
    assert_eq!(foreign["items"], json!([]));

    // Nothing of that had any effect: the question is open, and the answer that counts still counts.
    ours.approve(&approval).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let kinds = ours.kinds(conversation).await;
    assert!(
        !kinds.iter().any(|kind| matches!(kind.as_str(), "turn.cancel_requested" | "approval.denied")),
        "{kinds:?}"
    );
}

#[tokio::test]
async fn no_row_is_under_another_tenant() {
    let world = world();
    let word = word("rows");
    world.script(road::computes(&word));
    let (one, other) = (world.workspace().await, world.workspace().await);
    let (first, second) = tokio::join!(road::walk(&one, &word), road::walk(&other, &word));
    let rows = Rows::of(&world.installation).await;
    for (workspace, walked) in [(&one, &first), (&other, &second)] {
        road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;
        for (table, key) in [
            ("execution.executions", format!("id = '{}'", walked.turn.id)),
            ("execution.execution_steps", format!("execution_id = '{}'", walked.turn.id)),
            ("execution.tool_calls", format!("id = '{}'", walked.call)),
            ("chat.conversations", format!("id = '{}'", walked.turn.conversation)),
            ("chat.messages", format!("conversation_id = '{}'", walked.turn.conversation)),
            ("agent.approval_requests", format!("id = '{}'", walked.approval)),
        ] {
            let sql = format!("select distinct tenant_id, workspace_id from {table} where {key}");
            let found = some(table, async || rows.postgres(&sql).await).await;
            assert_eq!(
                found,
                [json!({"tenant_id": workspace.tenant, "workspace_id": workspace.id})],
                "{table}"
            );
        }
        for table in ["tool_invocations_final", "events_final", "token_usage_final"] {
            let sql = format!(
                "select distinct tenant_id, workspace_id from {table} where conversation_id = '{}'",
                walked.turn.conversation
            );
            let found = some(table, async || rows.clickhouse(&sql).await).await;
            assert_eq!(
                found,
                [json!({"tenant_id": workspace.tenant, "workspace_id": workspace.id})],
                "{table}"
            );
        }
    }
}

/// What is found in a table, which no other table's rows wait for.
async fn some(table: &str, find: impl AsyncFn() -> Vec<Value>) -> Vec<Value> {
    until(&format!("rows of {table}"), async || Some(find().await).filter(|rows| !rows.is_empty())).await
}

#[tokio::test]
async fn without_a_tenant_the_readers_role_sees_nothing() {
    let world = world();
    let word = word("walls");
    world.script(road::looks(&word));
    let workspace = world.workspace().await;
    let turn = workspace.say(&word).await;
    workspace.settled(&turn, "completed").await;
    let url = &world.installation.settings["DATABASE_URL"];
    let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(url).await.unwrap();
    let count = "select count(*) from execution.executions";
    let as_owner: i64 = sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap();
    assert_eq!(as_owner, 0, "row-level security binds the owner too");
    sqlx::query("set role oxagen_reader").execute(&mut connection).await.unwrap();
    for setting in ["", "set oxagen.runtime = 'on'"] {
        if !setting.is_empty() {
            sqlx::query(setting).execute(&mut connection).await.unwrap();
        }
        let as_reader: i64 = sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap();
        assert_eq!(as_reader, 0, "unset means no rows");
    }
}

#[tokio::test]
async fn a_revoked_key_opens_nothing() {
    let world = world();
    let workspace = world.workspace().await;
    let made =
        workspace.http.post("/v1/keys", &json!({"name": "short-lived", "role": "viewer"})).await.expect(201);
    let other = workspace.http.with_key(made["secret"].as_str().unwrap());
    other.get("/v1/me").await.expect(200);
    let path = format!("/v1/keys/{}", made["keyId"].as_str().unwrap());
    workspace.http.send(workspace.http.request(Method::DELETE, &path)).await.expect(204);
    other.get("/v1/me").await.problem(401, "unauthorized");
    Http::open(world.url()).with_key("oxk_nonsense").get("/v1/me").await.problem(401, "unauthorized");
}
