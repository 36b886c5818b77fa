//! Plan mode: an agent reads and plans, a person answers, and then exactly the planned calls run.
//!
//! Covers `agent.plan.create`, `agent.plan.read` and `agent.plan.resolve`.

use oxagen_domain::Role;
use oxagen_domain::policy::PolicyDocument;
use oxagen_scripted_model::Call;
use oxagen_tests::{
    Containers, EventStream, Rows, Turn, Workspace, call, code, reply, scenario, until, waiting, word, world,
};
use serde_json::{Value, json};

use crate::road;

fn step(id: &str, python: &str) -> Value {
    json!({"id": id, "summary": format!("Run {id}."), "capability": "agent.code.execute",
           "input": {"language": "python", "code": python}})
}

fn plan(steps: &[Value]) -> Call {
    call(
        "agent_plan_create",
        json!({"title": "Two numbers", "steps": steps, "rationale": "They were asked for."}),
    )
}

/// A turn in plan mode, up to its plan.
async fn proposed(workspace: &Workspace, word: &str) -> (Turn, EventStream, Value) {
    let turn = workspace.start(&json!({"text": word, "mode": "plan"})).await;
    let mut events = workspace.events(&turn.conversation).await;
    let proposed = events.until("plan-proposed").await.data;
    events.until("turn-paused").await;
    (turn, events, proposed)
}

fn path(proposed: &Value) -> String {
    format!("/v1/plans/{}", proposed["planId"].as_str().unwrap())
}

#[tokio::test]
async fn an_approved_plan_lets_its_calls_run_and_holds_every_other() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("plan"));
    let steps = [step("first", "print('one')"), step("second", "print('two')")];
    world.script(scenario(
        &word,
        vec![
            reply("Let me just do it.", vec![code("print('one')"), call("agent_tool_list", json!({}))]),
            reply("Then I plan.", vec![plan(&steps)]),
            reply("As planned.", vec![code("print('one')")]),
            reply("And something else.", vec![code("print('three')")]),
            reply("Done.", vec![]),
        ],
    ));
    let (turn, mut events, proposed) = proposed(&workspace, &word).await;
    let ends = events.named("tool-call-end");
    let early: Vec<_> = ends.iter().map(|end| (&end.data["capability"], &end.data["status"])).collect();
    assert!(
        early.contains(&(&json!("agent.code.execute"), &json!("denied"))),
        "nothing runs in plan mode: {early:?}"
    );
    assert!(early.contains(&(&json!("agent.tool.list"), &json!("completed"))), "reading does: {early:?}");
    assert_eq!(
        (&proposed["title"], &proposed["planVersion"]),
        (&json!("Two numbers"), &json!(1)),
        "{proposed}"
    );

    let shown = workspace.http.get(&path(&proposed)).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["steps"][0]["status"]),
        (&json!("proposed"), &json!("pending")),
        "{shown}"
    );
    let approve = json!({"decision": "approve", "version": 1, "note": "go on"});
    let receipt = workspace.http.post(&format!("{}/resolve", path(&proposed)), &approve).await.expect(200);
    assert_eq!(receipt["status"], "approved");
    let drift = events.until("approval-required").await.data;
    assert_eq!((&drift["rule"], &drift["drift"]), (&json!("plan.drift"), &json!(true)), "{drift}");
    let answer = json!({"decision": "deny", "note": "that was not the plan"});
    workspace.resolve(drift["approvalId"].as_str().unwrap(), &answer).await.expect(200);
    assert_eq!(events.turn_end().await.name, "turn-completed");

    let outputs: Vec<_> =
        events.named("tool-call-end").iter().map(|end| end.data["output"]["stdout"].clone()).collect();
    assert!(outputs.contains(&json!("one\n")) && !outputs.contains(&json!("three\n")), "{outputs:?}");
    let shown = workspace.http.get(&path(&proposed)).await.expect(200);
    let statuses: Vec<_> =
        shown["steps"].as_array().unwrap().iter().map(|step| step["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "pending"], "{shown}");

    let rows = Rows::of(&world.installation).await;
    let plan_id = proposed["planId"].as_str().unwrap();
    let sql = format!(
        "select s.step_id, s.status, s.call_id, p.status as plan, p.note, c.policy_rule, c.plan_step
         from agent.plans p join agent.plan_steps s on s.plan_id = p.id and s.version = p.version
         left join execution.tool_calls c on c.id = s.call_id where p.id = '{plan_id}' order by s.position"
    );
    let found = until("the plan's rows", async || {
        let found = rows.postgres(&sql).await;
        (found.first().is_some_and(|row| row["status"] == "completed")).then_some(found)
    })
    .await;
    assert_eq!((&found[0]["plan"], &found[0]["note"]), (&json!("approved"), &json!("go on")));
    assert_eq!((&found[0]["policy_rule"], &found[0]["plan_step"]), (&json!("plan.first"), &json!("first")));
    assert_eq!(found[1]["status"], "pending");
    road::sound(&workspace.facts(&turn.conversation).await);
}

#[tokio::test]
async fn f42_an_edited_plan_wants_an_answer_again_and_a_rejected_one_lets_nothing_run() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("amend"));
    world.script(scenario(
        &word,
        vec![
            reply("A plan.", vec![plan(&[step("only", "print('old')")])]),
            reply("So I try the old one.", vec![code("print('old')")]),
            reply("Done.", vec![]),
        ],
    ));
    let (turn, mut events, proposed) = proposed(&workspace, &word).await;
    let resolve = format!("{}/resolve", path(&proposed));
    let circle = json!([{"id": "a", "summary": "x", "dependsOn": ["b"]}, {"id": "b", "summary": "y", "dependsOn": ["a"]}]);
    let flawed = workspace.http.post(&resolve, &json!({"decision": "amend", "amendedSteps": circle})).await;
    assert_eq!(flawed.problem(422, "invalid_input")["field"], "/amendedSteps");
    let amend = json!({"decision": "amend", "amendedSteps": [step("only", "print('new')")]});
    let amended = workspace.http.post(&resolve, &amend).await.expect(200);
    assert_eq!((&amended["version"], &amended["status"]), (&json!(2), &json!("proposed")));
    assert_eq!(events.until("plan-proposed").await.data["planVersion"], 2);
    let stale = json!({"decision": "approve", "version": 1});
    workspace.http.post(&resolve, &stale).await.problem(409, "conflict");
    workspace
        .http
        .post(&resolve, &json!({"decision": "reject", "version": 2, "note": "not today"}))
        .await
        .expect(200);
    workspace.http.post(&resolve, &json!({"decision": "approve"})).await.problem(409, "plan_closed");
    assert_eq!(events.turn_end().await.name, "turn-completed");

    let resolved = &events.named("plan-resolved")[0].data;
    assert_eq!((&resolved["resolution"], &resolved["note"]), (&json!("rejected"), &json!("not today")));
    let kinds = workspace.kinds(&turn.conversation).await;
    assert!(!kinds.contains(&"tool_call.started".to_owned()), "nothing ran: {kinds:?}");
    let requests = world.installation.model.requests_with(&word);
    let messages = requests.last().unwrap().body["messages"].to_string();
    assert!(messages.contains("A person refused this call and said: not today"), "{messages}");
    assert!(messages.contains("plan mode"), "the old call was told why: {messages}");
}

#[tokio::test]
async fn f42_a_plan_amended_after_its_approval_grants_nothing_any_more() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("after"));
    let slow = waiting();
    let mut steps = [step("slow", ""), step("next", "print('next')")];
    steps[0]["input"] = slow.arguments.clone();
    world.script(scenario(
        &word,
        vec![
            reply("A plan.", vec![plan(&steps)]),
            reply("First.", vec![slow]),
            reply("Next.", vec![code("print('next')")]),
            reply("Done.", vec![]),
        ],
    ));
    let (turn, mut events, proposed) = proposed(&workspace, &word).await;
    let resolve = format!("{}/resolve", path(&proposed));
    workspace.http.post(&resolve, &json!({"decision": "approve"})).await.expect(200);
    let running = events.until("tool-call-output").await.data;
    let amend = json!({"decision": "amend", "amendedSteps": [steps[0], step("next", "print('changed')")]});
    workspace.http.post(&resolve, &amend).await.expect(200);
    let containers = Containers::at(&world.installation.servers.docker_host);
    let call = running["callId"].as_str().unwrap();
    until("the first call's program to let go", async || containers.let_go(call).await.then_some(())).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let ends: Vec<_> = events.named("tool-call-end").iter().map(|end| end.data["status"].clone()).collect();
    assert_eq!(ends, ["completed", "completed", "denied"], "what ran goes on, nothing else starts");
    let shown = workspace.http.get(&path(&proposed)).await.expect(200);
    assert_eq!((&shown["status"], &shown["version"]), (&json!("superseded"), &json!(2)), "{shown}");
    road::sound(&workspace.facts(&turn.conversation).await);
}

#[tokio::test]
async fn a_plan_that_needs_two_people_is_carried_out_when_both_have_approved_it() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("two-plan"));
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    policy["policy"]["approval"] = json!({"needed": 2, "excludeRequester": true});
    workspace.http.put("/v1/policy", &policy).await.expect(200);
    world.script(scenario(
        &word,
        vec![
            reply("A plan.", vec![plan(&[step("only", "print('both')")])]),
            reply("As planned.", vec![code("print('both')")]),
            reply("Done.", vec![]),
        ],
    ));
    let (turn, mut events, proposed) = proposed(&workspace, &word).await;
    assert_eq!(proposed["needed"], 2, "{proposed}");
    let (resolve, approve) =
        (format!("{}/resolve", path(&proposed)), json!({"decision": "approve", "version": 1}));
    let own = workspace.http.post(&resolve, &approve).await.problem(403, "forbidden");
    assert!(own["detail"].as_str().unwrap().contains("somebody else"), "{own}");
    let (first, second) = (workspace.as_role(Role::Member).await, workspace.as_role(Role::Admin).await);
    let receipt = first.http.post(&resolve, &approve).await.expect(200);
    assert_eq!(
        (&receipt["status"], &receipt["given"], &receipt["needed"]),
        (&json!("proposed"), &json!(1), &json!(2))
    );
    assert_eq!(first.http.post(&resolve, &approve).await.expect(200), receipt, "a repeat counts once");
    let change = json!({"decision": "reject"});
    first.http.post(&resolve, &change).await.problem(409, "plan_closed");
    let shown = workspace.http.get(&path(&proposed)).await.expect(200);
    assert_eq!((&shown["status"], &shown["given"]), (&json!("proposed"), &json!(1)), "{shown}");
    let receipt = second.http.post(&resolve, &approve).await.expect(200);
    assert_eq!((&receipt["status"], &receipt["given"]), (&json!("approved"), &json!(2)));
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let ends: Vec<_> = events.named("tool-call-end").iter().map(|end| end.data["status"].clone()).collect();
    assert_eq!(ends, ["completed", "completed"], "the plan, and its call without another question");
    road::sound(&workspace.facts(&turn.conversation).await);
}

#[tokio::test]
async fn a_plan_that_nobody_answers_closes_by_its_deadline_and_the_agent_is_told() {
    let world = world();
    let enabled = ["agent.code.execute".to_owned()].into();
    let policy = PolicyDocument { enabled, approval_expiry_seconds: 10, ..PolicyDocument::default() };
    let (workspace, word) = (world.workspace_with(policy).await, word("late-plan"));
    let replies = vec![reply("A plan.", vec![plan(&[step("only", "1")])]), reply("Then not.", vec![])];
    world.script(scenario(&word, replies));
    let (turn, mut events, proposed) = proposed(&workspace, &word).await;
    assert!(proposed["expiresAt"].is_string(), "{proposed}");
    assert_eq!(events.turn_end().await.name, "turn-completed");
    assert_eq!(events.named("plan-resolved")[0].data["resolution"], "expired");
    assert_eq!(events.named("tool-call-end")[0].data["status"], "denied");
    let late =
        workspace.http.post(&format!("{}/resolve", path(&proposed)), &json!({"decision": "approve"})).await;
    assert_eq!(late.problem(409, "plan_closed")["planStatus"], "expired");
    assert_eq!(workspace.http.get(&path(&proposed)).await.expect(200)["status"], "expired");
    let requests = world.installation.model.requests_with(&word);
    let told = requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(told["content"].as_str().unwrap().contains("in time"), "{told}");
    road::sound(&workspace.facts(&turn.conversation).await);
}
