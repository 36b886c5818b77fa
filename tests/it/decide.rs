//! Approvals in full: edited, remembered, by several people, and asked for again and again.
//!
//! Covers `agent.approval.resolve`.

use oxagen_domain::Role;
use oxagen_tests::{Workspace, code, reply, scenario, until, word, world};
use serde_json::{Value, json};

use crate::road::{ask, sound};

fn id(asked: &Value) -> String {
    asked["approvalId"].as_str().unwrap().to_owned()
}

async fn rule(workspace: &Workspace, rule: Value) {
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    policy["policy"]["rules"] = json!([rule]);
    workspace.http.put("/v1/policy", &policy).await.expect(200);
}

#[tokio::test]
async fn f13_an_edited_call_is_judged_again_runs_with_the_edit_and_is_what_the_model_sees() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("edited"));
    let replies = vec![reply("I pay.", vec![code("print('pay 10')")]), reply("Done.", vec![])];
    world.script(scenario(&word, replies));
    let (turn, mut events, asked) = ask(&workspace, &word).await;
    let approval = id(&asked);
    let edit = |input: Value| json!({"decision": "approve", "editedInput": input});
    for (input, place) in [
        (json!({"language": "python", "code": 1}), "/editedInput/code"),
        (json!({"language": "python", "code": "1", "sudo": true}), "/editedInput"),
        (json!({"capability": "agent.tool.list"}), "/editedInput"),
        (json!({}), "/editedInput"),
        (json!({"language": "python", "code": "1", "timeoutMs": 60000}), "/editedInput"),
    ] {
        let refused = workspace.resolve(&approval, &edit(input)).await.problem(422, "invalid_input");
        assert!(refused["field"].as_str().unwrap().starts_with(place), "{refused}");
    }
    let denied = json!({"language": "python", "code": "1", "timeoutMs": 60000});
    let refused = workspace.resolve(&approval, &edit(denied)).await.problem(422, "invalid_input");
    assert!(refused["detail"].as_str().unwrap().contains("tier.timeout"), "{refused}");

    let cheaper = json!({"language": "python", "code": "print('pay 1')"});
    let receipt = workspace.resolve(&approval, &edit(cheaper.clone())).await.expect(200);
    assert_eq!(workspace.resolve(&approval, &edit(cheaper.clone())).await.expect(200), receipt);
    workspace.resolve(&approval, &json!({"decision": "approve"})).await.problem(409, "approval_closed");
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let end = &events.named("tool-call-end")[0].data;
    assert_eq!(end["output"]["stdout"], "pay 1\n", "{end}");
    assert_eq!(events.named("approval-resolved")[0].data["editedInput"], cheaper);

    let call = format!("/v1/tool-calls/{}", asked["callId"].as_str().unwrap());
    let row = until("the row of the call", async || {
        let row = workspace.http.get(&call).await.expect(200);
        (row["status"] == "completed").then_some(row)
    })
    .await;
    assert_eq!((&row["input"], &row["originalInput"]["code"]), (&cheaper, &json!("print('pay 10')")));
    let requests = world.installation.model.requests_with(&word);
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let calls = messages.iter().find(|message| message["tool_calls"].is_array()).unwrap();
    let arguments = calls["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    assert!(arguments.contains("pay 1'") && !arguments.contains("pay 10"), "{arguments}");
    sound(&workspace.facts(&turn.conversation).await);
}

#[tokio::test]
async fn a_remembered_answer_stands_until_it_is_taken_back() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("remember"));
    let replies = vec![reply("Again.", vec![code("print('same')")]), reply("Done.", vec![])];
    world.script(scenario(&word, replies));
    let (_, mut events, asked) = ask(&workspace, &word).await;
    let foreign = json!({"decision": "approve", "remember": {"capability": "mcp.*"}});
    workspace.resolve(&id(&asked), &foreign).await.problem(422, "invalid_input");
    let answer = json!({"decision": "approve", "remember": true});
    let receipt = workspace.resolve(&id(&asked), &answer).await.expect(200);
    events.turn_end().await;

    let (_, events) = workspace.talk(&word).await;
    assert!(events.named("approval-required").is_empty(), "the answer stands");
    let cleared = events.seen.iter().find(|event| event.data["type"] == "tool_call.cleared").unwrap();
    let standing = receipt["standingApprovalId"].as_str().unwrap();
    assert_eq!(cleared.data["payload"]["rule"], format!("standing.{standing}"));

    let listed = workspace.http.get("/v1/standing-approvals").await.expect(200);
    assert_eq!(listed["items"][0]["standingApprovalId"], standing);
    let path = format!("/v1/standing-approvals/{standing}");
    assert_eq!(world.workspace().await.http.delete(&path).await.status, 404, "a foreign one is not there");
    assert_eq!(workspace.http.delete(&path).await.status, 204);
    workspace.http.delete(&path).await.problem(404, "not_found");
    let (_, _, again) = ask(&workspace, &word).await;
    assert_eq!(again["rule"], "capability.asks_approval", "it is asked again: {again}");
}

#[tokio::test]
async fn two_people_are_needed_and_the_requester_is_none_of_them() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("two"));
    rule(
        &workspace,
        json!({"name": "four-eyes", "effect": "ask", "capability": "agent.code.execute",
               "approval": {"needed": 2, "excludeRequester": true}}),
    )
    .await;
    world.script(scenario(&word, vec![reply("Now.", vec![code("print(2)")]), reply("Done.", vec![])]));
    let (turn, mut events, asked) = ask(&workspace, &word).await;
    assert_eq!((&asked["rule"], &asked["needed"]), (&json!("rules.four-eyes"), &json!(2)), "{asked}");
    let (approve, deny) = (json!({"decision": "approve"}), json!({"decision": "deny"}));
    let own = workspace.resolve(&id(&asked), &approve).await.problem(403, "forbidden");
    assert!(own["detail"].as_str().unwrap().contains("somebody else"), "{own}");

    let (first, second) = (workspace.as_role(Role::Member).await, workspace.as_role(Role::Admin).await);
    let receipt = first.resolve(&id(&asked), &approve).await.expect(200);
    assert_eq!((&receipt["status"], &receipt["given"]), (&json!("open"), &json!(1)), "{receipt}");
    assert_eq!(first.resolve(&id(&asked), &approve).await.expect(200), receipt, "a repeat counts once");
    first.resolve(&id(&asked), &deny).await.problem(409, "approval_closed");
    assert!(!workspace.kinds(&turn.conversation).await.contains(&"tool_call.started".to_owned()));
    let receipt = second.resolve(&id(&asked), &approve).await.expect(200);
    assert_eq!(receipt["status"], "approved");
    assert_eq!(events.turn_end().await.name, "turn-completed");
    assert_eq!(events.named("approval-resolved").len(), 1);
    assert_eq!(events.named("tool-call-end")[0].data["status"], "completed");
}

#[tokio::test]
async fn f12_the_very_same_call_is_asked_for_three_times_and_no_more() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("insists"));
    let mut replies: Vec<_> =
        (0..4).map(|nth| reply(&format!("Try {nth}."), vec![code("print('please')")])).collect();
    replies.push(reply("I give up.", vec![]));
    world.script(scenario(&word, replies));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    for before in 0..3 {
        let asked = events.until("approval-required").await.data;
        assert_eq!(asked["askedBefore"], before, "{asked}");
        // The first time without a reason.
        let answer =
            if before == 0 { json!({"decision": "deny"}) } else { json!({"decision": "deny", "note": "no"}) };
        workspace.resolve(&id(&asked), &answer).await.expect(200);
    }
    assert_eq!(events.turn_end().await.name, "turn-completed");
    assert_eq!(events.named("approval-required").len(), 3);
    let last = events.named("tool-call-end").last().unwrap().data.clone();
    assert_eq!(
        (&last["status"], &last["error"]["code"]),
        (&json!("denied"), &json!("denied_by_policy")),
        "{last}"
    );
    let requests = world.installation.model.requests_with(&word);
    let told = requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(told["content"].as_str().unwrap().contains("3 times"), "{told}");
    let first = requests[1].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(first["content"].as_str().unwrap().contains("gave no reason"), "{first}");
}

#[tokio::test]
async fn over_the_tiers_cap_nobody_is_asked_until_somebody_was_answered() {
    const CAP: usize = 100;
    let world = world();
    let workspace = world.workspace().await;
    let call = |nth: usize| json!({"capability": "agent.code.execute", "input": {"language": "python", "code": nth.to_string()}});
    for nth in 0..CAP {
        let held = workspace.http.post("/v1/tool-calls", &call(nth)).await.expect(202);
        assert!(held["approvalId"].is_string(), "{held}");
    }
    let open = async || {
        let page = workspace.http.get("/v1/approvals?status=open&limit=200").await.expect(200);
        page["items"].as_array().unwrap().clone()
    };
    let full =
        until("all of them in the inbox", async || Some(open().await).filter(|open| open.len() == CAP)).await;
    let refused = workspace.http.post("/v1/tool-calls", &call(CAP)).await.problem(403, "denied_by_policy");
    assert_eq!(refused["rule"], "tier.approvals", "{refused}");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("100 approvals are open") && detail.contains("asked for again"), "{detail}");
    let told = workspace.http.post("/v1/policy/explain", &call(CAP)).await.expect(200);
    assert_eq!((&told["decision"], &told["rule"]), (&json!("deny"), &json!("tier.approvals")), "{told}");

    workspace.resolve(&id(&full[0]), &json!({"decision": "deny"})).await.expect(200);
    until("room in the inbox", async || (open().await.len() < CAP).then_some(())).await;
    workspace.http.post("/v1/tool-calls", &call(CAP)).await.expect(202);
}
