//! F10: everything stops while an approval is open, and starts again.

use oxagen_tests::{Installation, ROLES, Rows, word};
use serde_json::json;

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn f10_approved_on_another_gateway_after_everything_was_killed_it_runs_once() {
    let installation = Installation::new().await;
    let mut first = installation.start(ROLES).await;
    let word = word("restart");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let workspace = installation.workspace(&first.url).await;
    let (turn, events, asked) = road::ask(&workspace, &word).await;
    let before = events.ids();
    first.kill();
    drop(events);

    let second = installation.start(ROLES).await;
    let workspace = workspace.at(&second.url);
    // The question stands, word for word, at the place in history where it was.
    let mut events = workspace.events(&turn.conversation).await;
    let again = events.until("approval-required").await.data;
    assert_eq!(again, asked);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    events.rest().await;
    assert_eq!(events.ids()[..before.len()], before, "history is what it was");

    let call = asked["callId"].as_str().unwrap();
    let rows = Rows::of(&installation).await;
    let row = road::one_of_each(&rows, &workspace.tenant, call, "completed", 1).await;
    assert_eq!(row["input"], asked["input"], "the approved arguments");
    assert_eq!(row["output"]["stdout"], road::PRINTED);
    let kinds = workspace.kinds(&turn.conversation).await;
    let count = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    assert_eq!(
        (count("tool_call.started"), count("tool_call.completed"), count("turn.completed")),
        (1, 1, 1)
    );

    // Idempotency does not live in memory either (F44).
    let body = json!({"text": word});
    let receipt = workspace.http.post_once("/v1/turns", "before", &body).await.expect(202);
    drop(second);
    let third = installation.start(&["gateway"]).await;
    let again = workspace.at(&third.url).http.post_once("/v1/turns", "before", &body).await.expect(202);
    assert_eq!(again, receipt);
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_a_stop_by_sigterm_drains_and_loses_nothing() {
    let installation = Installation::new().await;
    // Time enough for a slow machine: what takes longer is cut off, and said to be.
    let mut first = installation.start_with(ROLES, &[("OXAGEN_DRAIN", "250")]).await;
    let word = word("drain");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let workspace = installation.workspace(&first.url).await;
    let (turn, _, asked) = road::ask(&workspace, &word).await;
    let status = first.stop().await;
    assert!(status.success(), "{status}: {}", first.log());
    let second = installation.start(ROLES).await;
    let workspace = workspace.at(&second.url);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    workspace.settled(&turn, "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_with_two_megabytes_of_history_it_goes_on_as_well() {
    let installation = Installation::new().await;
    let mut first = installation.start(ROLES).await;
    let (long, last) = (word("long"), word("last"));
    let answer = oxagen_scripted_model::Reply { chunk_size: 4096, ..oxagen_tests::reply("Noted.", vec![]) };
    installation
        .model
        .add_scenarios(vec![oxagen_tests::scenario(&long, vec![answer]), road::computes(&last)]);
    let workspace = installation.workspace(&first.url).await;
    let text = format!("{long} {}", "history ".repeat(31_000));
    let (turn, _) = workspace.talk(&text).await;
    for _ in 1..8 {
        let next = workspace.say_in(&turn.conversation, &text).await;
        workspace.settled(&next, "completed").await;
    }
    let turn = workspace.say_in(&turn.conversation, &last).await;
    let mut events = workspace.events(&turn.conversation).await;
    let asked = events.until("approval-required").await.data;
    events.until("turn-paused").await;
    first.kill();

    let second = installation.start(ROLES).await;
    let workspace = workspace.at(&second.url);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    workspace.settled(&turn, "completed").await;
    let request = installation.model.requests_with(&last).pop().unwrap();
    assert!(request.body.to_string().len() > 1_900_000, "the model is told the whole history");
    road::sound(&workspace.facts(&turn.conversation).await);
}
