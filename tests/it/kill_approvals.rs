//! F11: answers that come while those who carry them out are away.

use std::time::Duration;

use oxagen_domain::policy::PolicyDocument;
use oxagen_tests::{Installation, word};
use serde_json::{Value, json};

use crate::road;

const OTHERS: &[&str] =
    &["gateway", "relay", "projector-postgres", "projector-clickhouse", "projector-neo4j"];

fn id<'a>(asked: &'a Value, name: &str) -> &'a str {
    asked[name].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_an_answer_after_the_deadline_is_refused_before_any_timer_ran() {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let mut reactor = installation.start(&["reactor"]).await;
    let runner = installation.start(&["runner"]).await;
    let enabled = ["agent.code.execute".to_owned()].into();
    let policy = PolicyDocument { enabled, approval_expiry_seconds: 10, ..PolicyDocument::default() };
    let workspace = installation.workspace_with(&others.url, policy).await;
    let word = word("deadline");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let (turn, mut events, asked) = road::ask(&workspace, &word).await;
    reactor.kill();
    // The deadline itself, and nobody there to ring.
    tokio::time::sleep(Duration::from_secs(11)).await;
    let late = workspace.resolve(id(&asked, "approvalId"), &json!({"decision": "approve"})).await;
    let refused = late.problem(409, "approval_closed");
    assert!(refused["detail"].as_str().unwrap().contains("expired"), "{refused}");

    let again = installation.start(&["reactor"]).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    let kinds = workspace.kinds(&turn.conversation).await;
    let count = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    assert_eq!((count("approval.expired"), count("tool_call.denied"), count("tool_call.started")), (1, 1, 0));
    drop((runner, again));
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_approved_and_cancelled_before_the_tool_starts_it_does_not_start() {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let reactor = installation.start(&["reactor"]).await;
    let mut runner = installation.start(&["runner"]).await;
    let workspace = installation.workspace(&others.url).await;
    let word = word("cancelled");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let (turn, mut events, asked) = road::ask(&workspace, &word).await;
    runner.kill();
    workspace.approve(id(&asked, "approvalId")).await;
    events.until("turn-resumed").await;
    let path = format!("/v1/turns/{}/cancel", turn.id);
    workspace.http.post(&path, &json!({"reason": "no more"})).await.expect(202);

    let again = installation.start(&["runner"]).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-cancelled", "{}", end.data);
    events.rest().await;
    let kinds = workspace.kinds(&turn.conversation).await;
    let count = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    assert_eq!((count("tool_call.cancelled"), count("tool_call.started")), (1, 0), "{kinds:?}");
    assert_eq!(count("approval.approved"), 1, "the decision stands");
    drop((reactor, again));
}
