//! `GET /v1/verify`: the caller's tenant, in every store.
//!
//! Covers `agent.history.verify`.

use oxagen_domain::Role;
use oxagen_tests::{Rows, Workspace, until, word, world};
use serde_json::{Value, json};

use crate::road;

/// What the comparison finds that this asks for. One runs at a time, and another test may have one, too.
async fn compare(workspace: &Workspace, query: &str) -> Value {
    let path = format!("/v1/verify{query}");
    until("a whole comparison", async || {
        let answer = workspace.http.get(&path).await;
        if answer.status == 429 {
            answer.problem(429, "too_many_at_once");
            return None;
        }
        Some(answer.expect(200)).filter(|report| report["complete"] == true)
    })
    .await
}

#[tokio::test]
async fn a_tenants_stores_are_compared_and_what_differs_is_named() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("verify"));
    world.script(road::looks(&word));
    let turn = workspace.say(&word).await;
    workspace.settled(&turn, "completed").await;
    let report = until("all stores being equal", async || {
        let report = compare(&workspace, "").await;
        let tables = report["tables"].as_array().unwrap();
        let stores =
            |name: &str| tables.iter().any(|table| table["store"] == name && table["found"]["rows"] != 0);
        let all = ["journal", "stream", "postgres", "clickhouse", "neo4j"].into_iter().all(stores);
        (report["equal"] == true && all).then_some(report)
    })
    .await;
    assert_eq!(report["differing"], 0, "{report}");
    let own = |table: &Value| table["tenantId"] == workspace.tenant.as_str();
    assert!(report["tables"].as_array().unwrap().iter().all(own), "{report}");

    // Somebody changes a row past the runtime.
    let rows = Rows::of(&world.installation).await;
    let conversation = &turn.conversation;
    rows.execute(&format!("update chat.conversations set title = 'forged' where id = '{conversation}'"))
        .await;
    let report = compare(&workspace, "").await;
    assert_eq!((&report["equal"], &report["differing"]), (&json!(false), &json!(1)), "{report}");
    let difference = &report["differences"][0];
    assert_eq!((&difference["store"], &difference["id"]), (&json!("postgres"), &json!(conversation)));
    assert_eq!(difference["what"]["columns"][0]["found"], "forged", "{difference}");
    // Outside of the window it does not count, and it is nobody else's.
    let head = report["head"].as_u64().unwrap();
    let after = compare(&workspace, &format!("?after={head}&limit=1")).await;
    assert_eq!(after["differing"], 0, "{after}");
    let other = world.workspace().await;
    let theirs = compare(&other, "").await;
    assert!(!theirs.to_string().contains(&workspace.tenant), "{theirs}");

    let member = workspace.as_role(Role::Member).await;
    member.http.get("/v1/verify").await.problem(403, "forbidden");
    for wrong in ["limit=0", "limit=1001", "after=x", "until=-1", "since=yesterday", "tenant=x"] {
        workspace.http.get(&format!("/v1/verify?{wrong}")).await.problem(422, "invalid_input");
    }
}
