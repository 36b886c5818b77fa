//! F09: results too large for a model, a fact or a screen.

use oxagen_scripted_model::Call;
use oxagen_tests::{EventStream, Turn, Workspace, code, reply, scenario, word, world};
use serde_json::Value;

/// What a model is told of one result at most; generous against the excerpt's own limit.
const TOLD: usize = 80 * 1024;
/// What a fact, and so one event of the stream, may weigh.
const FACT: usize = 80 * 1024;

/// Runs these programs in one step, all of them approved.
async fn run(about: &str, calls: Vec<Call>) -> (Workspace, Turn, EventStream, Vec<Value>) {
    let world = world();
    let (workspace, word) = (world.workspace().await, word(about));
    let count = calls.len();
    world.script(scenario(&word, vec![reply("Much to say.", calls), reply("Said.", vec![])]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("turn-paused").await;
    let asked: Vec<_> =
        events.named("approval-required").iter().map(|event| event.data["approvalId"].clone()).collect();
    assert_eq!(asked.len(), count);
    for approval in asked {
        workspace.approve(approval.as_str().unwrap()).await;
    }
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    let request = world.installation.model.requests_with(&word).pop().unwrap();
    let messages = request.body["messages"].as_array().unwrap().clone();
    let told = messages.into_iter().filter(|message| message["role"] == "tool").collect();
    (workspace, turn, events, told)
}

/// The whole result by its reference; what was told has its beginning, its end and a note.
async fn large(workspace: &Workspace, end: &Value, told: &Value) -> Value {
    let told = told["content"].as_str().unwrap();
    assert!(told.len() < TOLD, "{} bytes for the model", told.len());
    assert!(end.to_string().len() < FACT, "{} bytes in an event", end.to_string().len());
    let reference = end["outputRef"].as_str().unwrap_or_else(|| panic!("no outputRef: {end}"));
    assert!(
        told.contains(reference) || told.contains("cut") || told.contains("…"),
        "the cut is told: {told}"
    );
    workspace.http.get(&format!("/v1/objects/{reference}")).await.expect(200)
}

#[tokio::test]
async fn f09_five_megabytes_in_one_line() {
    let (workspace, turn, events, told) =
        run("line", vec![code("print('h' * 10 + 'x' * 5_000_000 + 'tail')")]).await;
    let end = &events.named("tool-call-end")[0].data;
    assert_eq!(end["status"], "completed");
    let whole = large(&workspace, end, &told[0]).await;
    assert_eq!(whole["truncated"], true);
    let stdout = whole["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("hhhhhhhhhhxxx") && stdout.len() > 900_000, "{}", stdout.len());
    assert!(told[0]["content"].as_str().unwrap().contains("hhhhhhhhhhxxx"), "the model sees the beginning");
    small_facts_and_frames(&workspace, &turn, &events).await;
}

#[tokio::test]
async fn f09_two_hundred_thousand_lines_and_a_cut_inside_a_character() {
    let calls = vec![code("for n in range(200_000): print(n)"), code("print('🦉' * 200_000)")];
    let (workspace, turn, events, told) = run("lines", calls).await;
    for (end, told) in events.named("tool-call-end").into_iter().zip(&told) {
        let whole = large(&workspace, &end.data, told).await;
        assert_eq!(whole["exitCode"], 0);
        assert!(!whole["stdout"].as_str().unwrap().contains('\u{fffd}'), "no character is torn");
    }
    assert!(told.iter().all(|told| !told["content"].as_str().unwrap().contains('\u{fffd}')));
    small_facts_and_frames(&workspace, &turn, &events).await;
}

#[tokio::test]
async fn f09_ten_large_results_in_one_step() {
    let calls = (0..10).map(|nth| code(&format!("print('{nth}' * 300_000)"))).collect();
    let (workspace, turn, events, told) = run("ten", calls).await;
    assert_eq!(told.len(), 10);
    let ends = events.named("tool-call-end");
    assert_eq!(ends.len(), 10);
    for end in ends {
        let reference = end.data["outputRef"].as_str().unwrap();
        let whole = workspace.http.get(&format!("/v1/objects/{reference}")).await.expect(200);
        assert_eq!(whole["stdout"].as_str().unwrap().len(), 300_001);
    }
    small_facts_and_frames(&workspace, &turn, &events).await;
}

async fn small_facts_and_frames(workspace: &Workspace, turn: &Turn, events: &EventStream) {
    for event in &events.seen {
        let size = event.data.to_string().len();
        assert!(size < FACT, "{} weighs {size} bytes", event.name);
    }
    for fact in workspace.facts(&turn.conversation).await {
        let size = fact.to_string().len();
        assert!(size < FACT, "{} weighs {size} bytes", fact["type"]);
    }
    let view = workspace.settled(turn, "completed").await;
    assert!(view.to_string().len() < 1_000_000, "the conversation weighs {} bytes", view.to_string().len());
}
