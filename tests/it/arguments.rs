//! Arguments that a model leaves out, sends as null, empty or of the wrong kind.

use oxagen_tests::{call, reply, scenario, until, word, world};
use serde_json::{Value, json};

use crate::road::sound;

fn run(more: Value) -> oxagen_scripted_model::Call {
    let code = "import sys\nprint(repr(sys.stdin.read()))";
    let mut arguments = json!({"language": "python", "code": code});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call("agent_code_execute", arguments)
}

#[tokio::test]
async fn f08_null_absent_and_empty_pass_unchanged_and_a_wrong_kind_is_one_clear_error() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("arguments"));
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    policy["policy"]["rules"] =
        json!([{"name": "go", "effect": "allow", "capability": "agent.code.execute"}]);
    workspace.http.put("/v1/policy", &policy).await.expect(200);
    let given = [
        json!({"stdin": null}),
        json!({}),
        json!({"stdin": ""}),
        json!({"stdin": "null"}),
        json!({"timeoutMs": "null"}),
        json!({"timeoutMs": ""}),
    ];
    let calls = given.iter().cloned().map(run).collect();
    world.script(scenario(&word, vec![reply("All at once.", calls), reply("Seen.", vec![])]));
    let (turn, events) = workspace.talk(&word).await;

    let requests = world.installation.model.requests_with(&word);
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), given.len(), "one result for each call: {results:?}");
    let starts = events.named("tool-call-start");
    assert_eq!(starts.len(), given.len());
    for (nth, (start, wanted)) in starts.iter().zip(&given).enumerate() {
        let asked = &start.data["input"];
        for name in ["stdin", "timeoutMs"] {
            assert_eq!(asked.get(name), wanted.get(name), "call {nth} is kept as it was given: {asked}");
        }
        let ended = |event: &&oxagen_tests::SseEvent| event.data["callId"] == start.data["callId"];
        let end = events.named("tool-call-end").into_iter().find(ended).unwrap().data.clone();
        let told = results[nth]["content"].as_str().unwrap();
        if wanted.get("timeoutMs").is_some() {
            assert_eq!(
                (&end["status"], &end["error"]["code"]),
                (&json!("failed"), &json!("invalid_input")),
                "{end}"
            );
            assert_eq!(told.matches("/timeoutMs").count(), 1, "one error, with its place: {told}");
        } else {
            assert_eq!(end["status"], "completed", "{end}");
            let read = if wanted["stdin"] == "null" { "'null'" } else { "''" };
            assert!(end["output"]["stdout"].as_str().unwrap().starts_with(read), "{end}");
        }
    }
    // What was stored is what was given, too: nothing was filled in or made into something else.
    let path = format!("/v1/tool-calls/{}", starts[0].data["callId"].as_str().unwrap());
    let row = until("the row of the first call", async || {
        let row = workspace.http.get(&path).await.expect(200);
        (row["status"] == "completed").then_some(row)
    })
    .await;
    assert_eq!(row["input"].get("stdin"), Some(&Value::Null), "{row}");
    assert_eq!(row["input"].get("timeoutMs"), None, "{row}");
    sound(&workspace.facts(&turn.conversation).await);
}
