//! `GET /v1/verify`: the caller's tenant, in every store.
//!
//! Covers `agent.history.verify`.

use oxagen_domain::Role;
use oxagen_tests::{Rows, until, word, world};
use serde_json::{Value, json};

use crate::road;

#[tokio::test]
async fn a_tenants_stores_are_compared_and_what_differs_is_named() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("verify"));
    world.script(road::looks(&word));
    let turn = workspace.say(&word).await;
    workspace.settled(&turn, "completed").await;
    let report = until("all stores being equal", async || {
        let report = workspace.http.get("/v1/verify").await.expect(200);
        let tables = report["tables"].as_array().unwrap();
        let stores =
            |name: &str| tables.iter().any(|table| table["store"] == name && table["found"]["rows"] != 0);
        let all = ["journal", "stream", "postgres", "clickhouse", "neo4j"].into_iter().all(stores);
        (report["equal"] == true && all).then_some(report)
    })
    .await;
    assert_eq!((&report["complete"], &report["differing"]), (&json!(true), &json!(0)), "{report}");
    let own = |table: &Value| table["tenantId"] == workspace.tenant.as_str();
    assert!(report["tables"].as_array().unwrap().iter().all(own), "{report}");

    // Somebody changes a row past the runtime.
    let rows = Rows::of(&world.installation).await;
    let conversation = &turn.conversation;
    rows.execute(&format!("update chat.conversations set title = 'forged' where id = '{conversation}'"))
        .await;
    let report = workspace.http.get("/v1/verify").await.expect(200);
    assert_eq!((&report["equal"], &report["differing"]), (&json!(false), &json!(1)), "{report}");
    let difference = &report["differences"][0];
    assert_eq!((&difference["store"], &difference["id"]), (&json!("postgres"), &json!(conversation)));
    assert_eq!(difference["what"]["columns"][0]["found"], "forged", "{difference}");
    // Outside of the window it does not count, and it is nobody else's.
    let until = report["head"].as_u64().unwrap();
    let after = workspace.http.get(&format!("/v1/verify?after={until}&limit=1")).await.expect(200);
    assert_eq!(after["differing"], 0, "{after}");
    let other = world.workspace().await;
    let theirs = other.http.get("/v1/verify").await.expect(200);
    assert!(!theirs.to_string().contains(&workspace.tenant), "{theirs}");

    let member = workspace.as_role(Role::Member).await;
    member.http.get("/v1/verify").await.problem(403, "forbidden");
    for wrong in ["limit=0", "limit=1001", "after=x", "until=-1", "since=yesterday", "tenant=x"] {
        workspace.http.get(&format!("/v1/verify?{wrong}")).await.problem(422, "invalid_input");
    }
}
