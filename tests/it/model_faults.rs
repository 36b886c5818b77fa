//! F01–F04: what providers do to a stream, seen from the end of a turn. The service's own tests have every variant;
//! here it is what the ledger, the stream and the next request make of it.

use oxagen_scripted_model::{Call, Cut, CutHow, Reply};
use oxagen_tests::{EventStream, Turn, Workspace, call, reply, scenario, word, world};
use serde_json::{Value, json};

/// A chunk of a stream.
fn chunk(delta: &Value, finish: Value) -> String {
    let body = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {body}\n\n")
}

fn raw(chunks: &[String]) -> Reply {
    Reply::raw(format!("{}data: [DONE]\n\n", chunks.concat()))
}

async fn talk(replies: Vec<Reply>) -> (Workspace, Turn, EventStream, String) {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("fault"));
    world.script(scenario(&word, replies));
    let (turn, mut events) = workspace.talk(&word).await;
    events.rest().await;
    (workspace, turn, events, word)
}

/// The next plain message in the same conversation works.
async fn goes_on(workspace: &Workspace, turn: &Turn) {
    let world = world();
    let word = word("next");
    world.script(scenario(&word, vec![reply("Fine.", vec![])]));
    let next = workspace.say_in(&turn.conversation, &word).await;
    workspace.settled(&next, "completed").await;
    crate::road::sound(&workspace.facts(&turn.conversation).await);
}

fn ends(events: &EventStream) -> Vec<(&str, &str)> {
    events
        .named("tool-call-end")
        .into_iter()
        .map(|event| {
            (event.data["status"].as_str().unwrap(), event.data["error"]["code"].as_str().unwrap_or_default())
        })
        .collect()
}

#[tokio::test]
async fn f01_two_calls_in_pieces_without_an_index_both_run() {
    let piece = |id: &str, arguments: &str| json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "agent_tool_list", "arguments": arguments}}]});
    let two = raw(&[
        chunk(&piece("call_a", "{}"), Value::Null),
        chunk(&piece("call_b", "{}"), Value::Null),
        chunk(&json!({}), json!("tool_calls")),
    ]);
    let (workspace, turn, events, word) = talk(vec![two, reply("Both.", vec![])]).await;
    assert_eq!(ends(&events), [("completed", ""), ("completed", "")]);
    let request = world().installation.model.requests_with(&word).pop().unwrap();
    let told: Vec<_> = request.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .cloned()
        .collect();
    assert_eq!(told.len(), 2, "each call has one result in the next request");
    goes_on(&workspace, &turn).await;
}

#[tokio::test]
async fn f02_arguments_that_are_none_are_empty_and_broken_ones_do_not_run() {
    let empty = Call { name: "agent_tool_list".to_owned(), arguments: json!(""), id: None };
    let broken =
        Call { name: "agent_code_execute".to_owned(), arguments: json!("{\"language\": \"pyth"), id: None };
    let replies = vec![reply("One.", vec![empty]), reply("Two.", vec![broken]), reply("I see.", vec![])];
    let (workspace, turn, events, word) = talk(replies).await;
    let ends = ends(&events);
    assert_eq!(ends[0], ("completed", ""));
    assert_eq!(ends[1].0, "failed", "{ends:?}");
    assert!(events.named("approval-required").is_empty(), "nobody is asked about a call that cannot run");
    assert_eq!(events.seen.iter().filter(|event| event.name == "turn-completed").count(), 1);
    // What goes back to the model is valid JSON: the provider refuses anything else.
    let requests = world().installation.model.requests_with(&word);
    assert_eq!(requests.len(), 3);
    goes_on(&workspace, &turn).await;
}

#[tokio::test]
async fn f02_no_call_of_an_answer_that_was_cut_by_length_runs() {
    let cut = raw(&[
        chunk(&json!({"content": "I will"}), Value::Null),
        chunk(
            &json!({"tool_calls": [{"index": 0, "id": "call_a", "type": "function",
            "function": {"name": "agent_tool_list", "arguments": "{}"}}]}),
            Value::Null,
        ),
        chunk(&json!({}), json!("length")),
    ]);
    let (workspace, turn, events, _) = talk(vec![cut, reply("Again.", vec![])]).await;
    let kinds = workspace.kinds(&turn.conversation).await;
    assert!(!kinds.contains(&"tool_call.started".to_owned()), "{kinds:?}");
    assert!(ends(&events).iter().all(|(status, _)| *status == "failed"), "{:?}", ends(&events));
    goes_on(&workspace, &turn).await;
}

#[tokio::test]
async fn f03_the_calls_decide_and_not_the_finish_reason() {
    let tools = |id: &str| {
        json!({"index": if id == "call_a" { 0 } else { 1 }, "id": id, "type": "function",
        "function": {"name": "agent_tool_list", "arguments": "{}"}})
    };
    let stop_with_calls = raw(&[
        chunk(&json!({"tool_calls": [tools("call_a"), tools("call_b")]}), json!("")),
        chunk(&json!({}), json!("stop")),
    ]);
    let calls_with_none = raw(&[
        chunk(&json!({"content": "Nothing to call."}), json!("")),
        chunk(&json!({}), json!("tool_calls")),
    ]);
    let (workspace, turn, events, word) = talk(vec![stop_with_calls, calls_with_none]).await;
    assert_eq!(ends(&events), [("completed", ""), ("completed", "")]);
    assert_eq!(events.named("turn-completed").len(), 1);
    assert_eq!(world().installation.model.requests_with(&word).len(), 2, "no loop");
    let view = workspace.settled(&turn, "completed").await;
    let last = view["messages"][1]["blocks"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["text"], "Nothing to call.");
}

#[tokio::test]
async fn f04_a_failure_that_passes_is_tried_again_and_its_text_withdrawn() {
    let cut = Reply {
        cut: Some(Cut { after: 4, data: None, how: CutHow::Reset }),
        ..Reply::text("Lost in the middle of a sentence.")
    };
    let whole =
        Reply { first: vec![cut], hold_after: Some(4), chunk_size: 2, ..Reply::text("Whole at last.") };
    let world = world();
    let (workspace, word) = (world.workspace().await, word("withdrawn"));
    world.script(scenario(&word, vec![whole]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("step-reset").await;
    events.until("text-delta").await;
    world.installation.model.let_go(&word);
    events.rest().await;
    assert_eq!(events.named("turn-completed").len(), 1);
    let reset = events.seen.iter().position(|event| event.name == "step-reset").expect("a step-reset");
    let after: String = events.seen[reset..]
        .iter()
        .filter(|event| event.name == "text-delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    // Frames that come later than the step's end are replaced by it.
    assert!(!after.is_empty() && "Whole at last.".starts_with(&after), "{after}");
    let kinds = workspace.kinds(&turn.conversation).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "turn.step_failed").count(), 1, "{kinds:?}");
    let view = workspace.settled(&turn, "completed").await;
    let texts: Vec<_> = view["messages"][1]["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "text")
        .collect();
    assert_eq!(texts.len(), 1, "{view}");
    assert_eq!(texts[0]["text"], "Whole at last.");
}

#[tokio::test]
async fn f04_a_failure_that_stays_ends_the_turn_with_its_code_and_the_partial_text() {
    let text = "This far it came and no farther.";
    let broken = [
        Cut {
            after: 4,
            data: Some(json!({"error": {"message": "overloaded", "code": 529}})),
            how: CutHow::Close,
        },
        Cut { after: 4, data: Some(json!("it broke")), how: CutHow::Close },
        Cut { after: 4, data: None, how: CutHow::Close },
        Cut { after: 4, data: None, how: CutHow::Reset },
    ];
    for cut in broken {
        let reply = Reply { cut: Some(cut.clone()), ..Reply::text(text) };
        let (workspace, turn, events, _) = talk(vec![reply]).await;
        let failed = events.named("turn-failed");
        assert_eq!(failed.len(), 1, "{cut:?}: {:?}", oxagen_tests::names(&events.seen));
        let error = &failed[0].data["error"];
        assert!(error["code"].as_str().unwrap().starts_with("model_"), "{cut:?}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        let view = workspace.settled(&turn, "failed").await;
        let blocks = view["messages"][1]["blocks"].as_array().unwrap();
        let kept: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        assert!(text.starts_with(&kept), "the partial text is kept: {blocks:?}");
        // A reset may overtake what was sent before it, so that nothing has come to be kept.
        if cut.how == CutHow::Close || !kept.is_empty() {
            assert!(blocks.iter().any(|block| block["partial"] == true), "and marked as such: {blocks:?}");
        }
        assert_eq!(blocks.last().unwrap()["type"], "error");
        goes_on(&workspace, &turn).await;
    }
}

#[tokio::test]
async fn f04_a_refusal_of_the_provider_is_told_as_it_is() {
    let refusal = Reply {
        status: Some(401),
        body: Some(json!({"error": {"message": "no such key"}})),
        ..Reply::default()
    };
    let (workspace, turn, events, word) = talk(vec![refusal]).await;
    let error = &events.named("turn-failed")[0].data["error"];
    assert!(error["message"].as_str().unwrap().contains("no such key"), "{error}");
    assert_eq!(world().installation.model.requests_with(&word).len(), 1, "another try cannot help");
    goes_on(&workspace, &turn).await;
}

#[tokio::test]
async fn f07_a_tool_that_is_not_there_is_one_clear_result() {
    let replies = vec![
        reply("Let me see.", vec![call("weather_read", json!({"place": "Kyoto"}))]),
        reply("No weather then.", vec![]),
    ];
    let (workspace, turn, events, word) = talk(replies).await;
    let ends = ends(&events);
    assert_eq!((ends.len(), ends[0].0), (1, "failed"), "{ends:?}");
    let request = world().installation.model.requests_with(&word).pop().unwrap();
    let told =
        request.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("weather_read"), "{told}");
    goes_on(&workspace, &turn).await;
}
