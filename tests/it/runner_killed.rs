//! A runner is killed in the middle of a sandbox call; another takes over.

use oxagen_scripted_model::Reply;
use oxagen_tests::{Containers, Installation, Rows, names, scenario, until, waits, word};
use serde_json::json;

use crate::road;
use crate::scene::{OTHERS, Scene};

/// The runner is killed in the effect of a call, and a second one is there; gives the dead one's id.
async fn killed_in_the_middle(network: &str) -> (Scene, String) {
    let mut scene = Scene::in_the_effect(network).await;
    scene.runner.kill();
    let facts = scene.workspace.facts(&scene.turn.conversation).await;
    let started = facts.into_iter().find(|fact| fact["type"] == "tool_call.started").unwrap();
    let dead = started["payload"]["runnerId"].as_str().unwrap().to_owned();
    scene.runner = scene.installation.start(&["runner"]).await;
    (scene, dead)
}

impl Scene {
    /// One result in history and one for the model; nothing of the dead runner is left.
    async fn one_result(&mut self, dead: &str, kinds: &[String], told: &str) {
        let ends = kinds.iter().filter(|kind| {
            ["tool_call.completed", "tool_call.in_doubt", "tool_call.failed"].contains(&kind.as_str())
        });
        assert_eq!(ends.count(), 1, "{kinds:?}");
        road::sound(&self.workspace.facts(&self.turn.conversation).await);
        let requests = self.installation.model.requests();
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
        assert_eq!(results.len(), 1, "{results:?}");
        let words = results[0]["content"].as_str().unwrap();
        assert!(words.contains(told), "the model is told: {words}");
        self.no_container(Some(dead)).await;
        assert!(self.others.is_running(), "the other roles run on");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_without_network_the_call_runs_again_as_attempt_two() {
    let (mut scene, dead) = killed_in_the_middle("deny").await;
    scene.second_attempt().await;
    scene.completed().await;

    // The dead attempt's frames are withdrawn, and what comes after that is the second attempt's.
    let names = names(&scene.events.seen);
    let reset = names.iter().rposition(|name| *name == "step-reset").expect("a step-reset");
    assert_eq!(scene.events.seen[reset].data["attempt"], 2, "{}", scene.events.seen[reset].data);
    let after = &scene.events.seen[reset..];
    let printed: String = after
        .iter()
        .filter(|event| event.name == "tool-call-output")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    // What comes later than the call's end is replaced by it.
    assert!(printed.starts_with("begun") && "begun\ndone\n".starts_with(&printed), "{printed}");
    let ended = scene.events.named("tool-call-end");
    assert_eq!(ended.len(), 1);
    assert_eq!((&ended[0].data["status"], &ended[0].data["attempt"]), (&json!("completed"), &json!(2)));

    let kinds = scene.workspace.kinds(&scene.turn.conversation).await;
    assert!(kinds.contains(&"turn.taken_over".to_owned()), "{kinds:?}");
    scene.one_result(&dead, &kinds, "done").await;
    let rows = Rows::of(&scene.installation).await;
    road::one_of_each(&rows, &scene.workspace.tenant, scene.call(), "completed", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_with_network_the_call_is_in_doubt_and_everybody_is_told() {
    let (mut scene, dead) = killed_in_the_middle("allow").await;
    scene.completed().await;
    let ended = scene.events.named("tool-call-end");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].data["status"], "in_doubt");
    assert!(ended[0].data["error"]["message"].as_str().unwrap().contains("unknown"), "{}", ended[0].data);
    let kinds = scene.workspace.kinds(&scene.turn.conversation).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_call.started").count(), 1, "it ran once: {kinds:?}");
    scene.one_result(&dead, &kinds, "unknown").await;
    let rows = Rows::of(&scene.installation).await;
    road::one_of_each(&rows, &scene.workspace.tenant, scene.call(), "in_doubt", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_while_the_model_speaks_the_step_is_asked_again_and_its_text_withdrawn() {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let mut runner = installation.start(&["runner"]).await;
    let workspace = installation.workspace(&others.url).await;
    let word = word("speaks");
    let text = "Said with a pause, so that somebody may be killed in the middle of it.";
    let held = Reply { hold_after: Some(5), chunk_size: 4, ..Reply::text(text) };
    installation.model.add_scenarios(vec![scenario(&word, vec![held])]);
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("text-delta").await;
    runner.kill();
    let _second = installation.start(&["runner"]).await;
    while events.until("step-reset").await.data["attempt"] != 2 {}
    events.until("text-delta").await;
    installation.model.let_go(&word);
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    let reset = events.seen.iter().rposition(|event| event.name == "step-reset").expect("a step-reset");
    let after: String = events.seen[reset..]
        .iter()
        .filter(|event| event.name == "text-delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    assert!(!after.is_empty() && text.starts_with(&after), "{after}");
    let view = workspace.settled(&turn, "completed").await;
    let blocks = view["messages"][1]["blocks"].as_array().unwrap();
    assert_eq!((blocks.len(), &blocks[0]["text"]), (1, &json!(text)), "{blocks:?}");
    road::sound(&workspace.facts(&turn.conversation).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_a_direct_call_is_taken_over_as_well() {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let mut runner = installation.start(&["runner"]).await;
    let workspace = installation.workspace(&others.url).await;
    let input = json!({"language": "python", "code": waits(), "timeoutMs": 30_000});
    let body = json!({"capability": "agent.code.execute", "input": input});
    let held = workspace.http.post("/v1/tool-calls", &body).await.expect(202);
    let call = held["callId"].as_str().unwrap();
    workspace.approve(held["approvalId"].as_str().unwrap()).await;
    let containers = Containers::at(&installation.servers.docker_host);
    until("the call's container", async || containers.of_call(call).await).await;
    runner.kill();
    let _second = installation.start(&["runner"]).await;
    let rows = Rows::of(&installation).await;
    let path = format!("/v1/tool-calls/{call}");
    until("the end of the second attempt, which is let go", async || {
        let row = workspace.http.get(&path).await.expect(200);
        if row["attempt"] == 2 {
            containers.let_go(call).await;
        }
        (row["status"] == "completed").then_some(())
    })
    .await;
    let row = road::one_of_each(&rows, &workspace.tenant, call, "completed", 2).await;
    assert_eq!(row["output"]["stdout"], "begun\ndone\n");
    until("the end of its containers", async || containers.of_call(call).await.is_none().then_some(())).await;
}
