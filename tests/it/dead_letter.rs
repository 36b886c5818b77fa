//! A fact that a reader cannot take in: put aside after five attempts, told, and the rest goes on.

use oxagen_tests::{Installation, ROLES, Rows, until, word};
use serde_json::Value;

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_that_no_store_can_take_is_put_aside_and_the_rest_goes_on() {
    let installation = Installation::new().await;
    let process = installation.start(ROLES).await;
    let workspace = installation.workspace(&process.url).await;
    let rows = Rows::of(&installation).await;
    // An event as a defective build might have stored it: of a known type, in no form of it.
    let (tenant, id) = (&workspace.tenant, &workspace.id);
    rows.execute(&format!(
        r#"insert into journal.events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
        values ('tool_call', gen_random_uuid()::text, 1, 'tool_call.completed', '1', '{{"type": "completed"}}',
        '{{"tenantId": "{tenant}", "workspaceId": "{id}", "actorKind": "system", "actorId": "test",
        "causationId": "{id}", "correlationId": "{id}", "occurredAt": "2026-11-29T10:00:00Z"}}')"#
    ))
    .await;

    let word = word("dead");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let walked = road::walk(&workspace, &word).await;
    road::one_of_each(&rows, tenant, &walked.call, "completed", 1).await;

    let list = async || {
        let printed = installation.run(&["deadletters", "list", "--json"], &[]).await.done();
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    for reader in ["projector-postgres", "projector-clickhouse", "projector-neo4j"] {
        let letter = until(&format!("a dead letter of the {reader}"), async || {
            list().await.into_iter().find(|letter| letter["reader"] == reader)
        })
        .await;
        assert_eq!(letter["attempts"], 5, "{letter}");
        let seq = letter["seq"].to_string();
        let shown = installation.run(&["deadletters", "show", reader, &seq, "--json"], &[]).await.done();
        assert!(shown.contains("tool_call.completed"), "{shown}");
        installation.run(&["deadletters", "drop", reader, &seq], &[]).await.done();
    }
    assert!(list().await.iter().all(|letter| !letter["reader"].as_str().unwrap().starts_with("projector")));

    // A screen is still shown that there is a fact, and history pages over it.
    let page = workspace.http.get("/v1/events?type=tool_call.completed").await.expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2, "{page}");
}
