//! F43: a turn is cancelled at different moments. Every open call gets one cancelled result, late results reopen
//! nothing, and the conversation goes on.
//!
//! Covers `agent.turn.cancel`.

use oxagen_scripted_model::Reply;
use oxagen_tests::{
    Containers, EventStream, Turn, Workspace, call, code, reply, scenario, until, word, world,
};
use serde_json::{Value, json};

async fn cancel(workspace: &Workspace, turn: &Turn) {
    let path = format!("/v1/turns/{}/cancel", turn.id);
    workspace.http.post(&path, &json!({"reason": "not needed any more"})).await.expect(202);
}

/// The turn is over, each call has one end, and another message is answered: the model takes what it is told.
async fn goes_on(workspace: &Workspace, turn: &Turn, events: &mut EventStream, calls: usize) -> Vec<Value> {
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-cancelled", "{}", end.data);
    assert_eq!(end.data["reason"], "not needed any more");
    events.rest().await;
    let facts = workspace.facts(&turn.conversation).await;
    let ends: Vec<_> = facts
        .iter()
        .filter(|fact| {
            let kind = fact["type"].as_str().unwrap();
            ["completed", "failed", "cancelled", "denied", "in_doubt"]
                .map(|end| format!("tool_call.{end}"))
                .contains(&kind.to_owned())
        })
        .cloned()
        .collect();
    assert_eq!(ends.len(), calls, "each call ends once: {ends:?}");

    let world = world();
    let word = word("afterwards");
    world.script(scenario(&word, vec![reply("Good.", vec![])]));
    let next = workspace.say_in(&turn.conversation, &word).await;
    let mut events =
        workspace.events_after(&turn.conversation, &facts.last().unwrap()["seq"].to_string()).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    let view = workspace.settled(&next, "completed").await;
    crate::road::sound(&workspace.facts(&turn.conversation).await);
    assert_eq!(view["messages"].as_array().unwrap().len(), 4);
    ends
}

#[tokio::test]
async fn f43_cancelled_before_the_first_result() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("held"));
    world.script(scenario(&word, vec![reply("Two things.", vec![code("print(1)"), code("print(2)")])]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("turn-paused").await;
    let asked = events.named("approval-required")[0].data["approvalId"].as_str().unwrap().to_owned();
    cancel(&workspace, &turn).await;
    let ends = goes_on(&workspace, &turn, &mut events, 2).await;
    assert!(ends.iter().all(|end| end["type"] == "tool_call.cancelled"), "{ends:?}");
    let resolved = events.named("approval-resolved");
    assert_eq!(resolved.len(), 2);
    assert!(resolved.iter().all(|event| event.data["resolution"] == "superseded"));
    workspace.resolve(&asked, &json!({"decision": "approve"})).await.problem(409, "approval_closed");
}

#[tokio::test]
async fn f43_cancelled_with_a_call_in_flight() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("flight"));
    let endless = "import time\nwhile True: print('going', flush=True); time.sleep(1)";
    let endless = json!({"language": "python", "code": endless, "timeoutMs": 30_000});
    let calls = vec![call("agent_code_execute", endless)];
    world.script(scenario(&word, vec![reply("This takes long.", calls)]));
    let (turn, mut events, asked) = crate::road::ask(&workspace, &word).await;
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    events.until("tool-call-output").await;
    let call = asked["callId"].as_str().unwrap();
    cancel(&workspace, &turn).await;
    let ends = goes_on(&workspace, &turn, &mut events, 1).await;
    assert_eq!(ends[0]["type"], "tool_call.cancelled");
    let containers = Containers::at(&world.installation.servers.docker_host);
    until("the end of the call's container", async || containers.of_call(call).await.is_none().then_some(()))
        .await;
}

#[tokio::test]
async fn f43_cancelled_between_two_results() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("between"));
    let calls = vec![call("agent_tool_list", json!({})), code("print(2)")];
    world.script(scenario(&word, vec![reply("Two things.", calls)]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("turn-paused").await;
    until("the first call's result", async || {
        let kinds = workspace.kinds(&turn.conversation).await;
        kinds.contains(&"tool_call.completed".to_owned()).then_some(())
    })
    .await;
    cancel(&workspace, &turn).await;
    let ends = goes_on(&workspace, &turn, &mut events, 2).await;
    let mut kinds: Vec<_> = ends.iter().map(|end| end["type"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["tool_call.cancelled", "tool_call.completed"]);
}

#[tokio::test]
async fn f43_cancelled_while_the_model_speaks() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("speaks"));
    let slow = Reply { text: "word ".repeat(2000), delay_ms: 50, ..Reply::default() };
    world.script(scenario(&word, vec![slow]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("text-delta").await;
    cancel(&workspace, &turn).await;
    goes_on(&workspace, &turn, &mut events, 0).await;
    let outcome = async || {
        let requests = world.installation.model.requests_with(&word);
        let outcome = serde_json::to_value(&requests[0]).unwrap()["outcome"].clone();
        (outcome == "hungUp").then_some(())
    };
    until("the model's request being dropped", outcome).await;
}

#[tokio::test]
async fn a_turn_that_has_ended_cannot_be_cancelled() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("ended"));
    world.script(scenario(&word, vec![reply("Hello.", vec![])]));
    let (turn, _) = workspace.talk(&word).await;
    let late = workspace.http.post(&format!("/v1/turns/{}/cancel", turn.id), &json!({})).await;
    late.problem(409, "turn_ended");
}
