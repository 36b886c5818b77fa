//! F26: the sandbox's engine is gone in the middle of a run, as when it is restarted.

use oxagen_tests::{Containers, Installation, Proxy, ROLES, Rows, call, reply, scenario, until, word};
use serde_json::json;

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn f26_the_engine_is_gone_in_mid_run_and_the_call_has_one_end_and_no_container() {
    let (installation, engine, door) = behind_a_door().await;
    let process = installation.start(ROLES).await;
    let workspace = installation.workspace(&process.url).await;
    let (word, after) = (word("engine"), word("after"));
    let code = "import time\nprint('begun', flush=True)\ntime.sleep(60)";
    let arguments = json!({"language": "python", "code": code, "timeoutMs": 20_000});
    let replies = vec![
        reply("I will run it.", vec![call("agent_code_execute", arguments)]),
        reply("So be it.", vec![]),
    ];
    installation.model.add_scenarios(vec![scenario(&word, replies), road::computes(&after)]);
    let (_, mut events, asked) = road::ask(&workspace, &word).await;
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    events.until("tool-call-output").await;
    door.shut();
    events.until("tool-call-end").await;
    door.open();

    assert_eq!(events.turn_end().await.name, "turn-completed", "the model is told and goes on");
    let ended = events.named("tool-call-end");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].data["status"], "failed", "{}", ended[0].data);
    let message = ended[0].data["error"]["message"].as_str().unwrap();
    assert!(message.contains("may have run"), "{message}");
    let (rows, call) = (Rows::of(&installation).await, asked["callId"].as_str().unwrap());
    road::one_of_each(&rows, &workspace.tenant, call, "failed", 1).await;
    let containers = Containers::at(&engine);
    until("the container of the call being gone", async || {
        containers.of_call(call).await.is_none().then_some(())
    })
    .await;
    // And the engine is of use again.
    let walked = road::walk(&workspace, &after).await;
    road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f26_a_container_whose_making_was_not_answered_does_not_stay() {
    let (installation, engine, door) = behind_a_door().await;
    let process = installation.start(ROLES).await;
    let workspace = installation.workspace(&process.url).await;
    let word = word("unanswered");
    // Not what a warm container has.
    let arguments = json!({"language": "python", "code": "print('begun')", "memoryMb": 256});
    let replies = vec![
        reply("I will run it.", vec![call("agent_code_execute", arguments)]),
        reply("So be it.", vec![]),
    ];
    installation.model.add_scenarios(vec![scenario(&word, replies)]);
    let (_, mut events, asked) = road::ask(&workspace, &word).await;
    let (call, containers) = (asked["callId"].as_str().unwrap(), Containers::at(&engine));
    door.mute();
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    until("the container of the call", async || containers.of_call(call).await).await;
    door.shut();
    let end = events.until("tool-call-end").await;
    assert_eq!(end.data["status"], "failed", "{}", end.data);
    let message = end.data["error"]["message"].as_str().unwrap();
    assert!(message.contains("did not run"), "{message}");
    door.open();
    until("the container of the call being gone", async || {
        containers.of_call(call).await.is_none().then_some(())
    })
    .await;
}

/// An installation that reaches the sandbox's engine through a door alone; also the engine's own address.
async fn behind_a_door() -> (Installation, String, Proxy) {
    let mut installation = Installation::new().await;
    let engine = installation.servers.docker_host.clone();
    let door = Proxy::to(&engine).await;
    installation.settings.insert("DOCKER_HOST".to_owned(), door.url());
    (installation, engine, door)
}
