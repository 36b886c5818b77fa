//! A person is asked, and answers, or does not.
//!
//! Covers `agent.approval.list` and `agent.approval.resolve`.

use futures::future::join_all;
use oxagen_domain::Role;
use oxagen_domain::policy::PolicyDocument;
use oxagen_tests::{Workspace, code, reply, scenario, soon, until, word, world};
use serde_json::{Value, json};

use crate::road::{ask, computes};

async fn asked(about: &str) -> (Workspace, oxagen_tests::Turn, oxagen_tests::EventStream, String) {
    let world = world();
    let (workspace, word) = (world.workspace().await, word(about));
    world.script(computes(&word));
    let (turn, events, asked) = ask(&workspace, &format!("{word}: what is 6 times 7?")).await;
    (workspace, turn, events, asked["approvalId"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn f12_a_denial_reaches_the_model_as_a_persons_refusal_word_for_word() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("denied"));
    let replies = vec![reply("I will compute it.", vec![code("print(1)")]), reply("Understood.", vec![])];
    world.script(scenario(&word, replies));
    let (turn, mut events, asked) = ask(&workspace, &word).await;
    let note = "wait for Friday — \"not before\" the 京都 review\nthanks";
    let answer = json!({"decision": "deny", "note": note});
    workspace.resolve(asked["approvalId"].as_str().unwrap(), &answer).await.expect(200);
    assert_eq!(events.turn_end().await.name, "turn-completed");

    let resolved = &events.named("approval-resolved")[0].data;
    assert_eq!((&resolved["resolution"], &resolved["note"]), (&json!("denied"), &json!(note)));
    let end = &events.named("tool-call-end")[0].data;
    assert_eq!(end["status"], "denied");
    let requests = world.installation.model.requests_with(&word);
    let told = requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(told["role"], "tool");
    let words = told["content"].as_str().unwrap();
    // The content may be JSON, in which the note is escaped: then it is the note that must be there, whole.
    let whole =
        words.contains(note) || words.contains(serde_json::to_string(note).unwrap().trim_matches('"'));
    assert!(whole, "{words}");
    assert!(events.named("tool-call-output").is_empty(), "a denied call must not run");
    assert!(!workspace.kinds(&turn.conversation).await.contains(&"tool_call.started".to_owned()));
}

#[tokio::test]
async fn f11_a_repeat_is_a_receipt_and_another_answer_a_conflict() {
    let (workspace, turn, mut events, approval) = asked("repeat").await;
    let first = workspace.approve(&approval).await;
    assert_eq!(workspace.approve(&approval).await, first);
    let deny = json!({"decision": "deny"});
    let refused = workspace.resolve(&approval, &deny).await.problem(409, "approval_closed");
    assert!(refused["detail"].as_str().unwrap().contains("approved"), "{refused}");
    let other = workspace.as_role(Role::Member).await;
    other.resolve(&approval, &json!({"decision": "approve"})).await.problem(409, "approval_closed");
    assert_eq!(events.turn_end().await.name, "turn-completed");
    workspace.resolve(&approval, &deny).await.problem(409, "approval_closed");
    let kinds = workspace.kinds(&turn.conversation).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_call.started").count(), 1, "{kinds:?}");
}

#[tokio::test]
async fn f11_twenty_answers_at_once_are_one_decision() {
    let (workspace, turn, mut events, approval) = asked("crowd").await;
    let answers = (0..20).map(|nth| {
        let answer = json!({"decision": if nth % 2 == 0 { "approve" } else { "deny" }});
        let (workspace, approval) = (workspace.clone(), approval.clone());
        async move { workspace.resolve(&approval, &answer).await }
    });
    let statuses: Vec<_> = join_all(answers).await.into_iter().map(|answer| answer.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 10, "{statuses:?}");
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let kinds = workspace.kinds(&turn.conversation).await;
    let decisions =
        kinds.iter().filter(|kind| matches!(kind.as_str(), "approval.approved" | "approval.denied"));
    assert_eq!(decisions.count(), 1, "{kinds:?}");
}

#[tokio::test]
async fn f11_an_approval_closes_by_its_stored_deadline_and_takes_no_answer_after_it() {
    let world = world();
    let enabled = ["agent.code.execute".to_owned()].into();
    let policy = PolicyDocument { enabled, approval_expiry_seconds: 10, ..PolicyDocument::default() };
    let (workspace, word) = (world.workspace_with(policy).await, word("expires"));
    world.script(computes(&word));
    let (_, mut events, asked) = ask(&workspace, &word).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "the model goes on and says what it was told: {}", end.data);
    assert_eq!(events.named("approval-resolved")[0].data["resolution"], "expired");
    assert_eq!(events.named("tool-call-end")[0].data["status"], "denied");
    let late =
        workspace.resolve(asked["approvalId"].as_str().unwrap(), &json!({"decision": "approve"})).await;
    let refused = late.problem(409, "approval_closed");
    assert!(refused["detail"].as_str().unwrap().contains("expired"), "{refused}");
}

#[tokio::test]
async fn the_inbox_lists_what_is_open_and_only_those_who_may_answer() {
    let (workspace, _, mut events, approval) = asked("inbox").await;
    let open = async || workspace.http.get("/v1/approvals?status=open").await.expect(200)["items"].clone();
    let item = until("the approval in the inbox", async || open().await.get(0).cloned()).await;
    assert_eq!((&item["approvalId"], &item["status"]), (&json!(approval), &json!("open")), "{item}");
    for role in [Role::Viewer, Role::Service] {
        let unable = workspace.as_role(role).await;
        unable.resolve(&approval, &json!({"decision": "approve"})).await.problem(403, "forbidden");
    }
    let forged = json!({"decision": "approve", "resolvedBy": workspace.id});
    workspace.resolve(&approval, &forged).await.problem(422, "invalid_input");
    assert_eq!(open().await.as_array().map(Vec::len), Some(1), "nothing was answered yet");
    let member = workspace.as_role(Role::Member).await;
    let receipt = member.approve(&approval).await;
    let me = member.http.get("/v1/me").await.expect(200);
    assert_eq!(receipt["resolvedBy"], me["userId"]);
    events.turn_end().await;
    until("an empty inbox", async || open().await.as_array().filter(|open| open.is_empty()).map(drop)).await;
}

#[tokio::test]
async fn several_approvals_of_a_step_are_answered_in_any_order() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("several"));
    let calls = vec![code("print('first')"), code("print('second')"), code("print('third')")];
    world.script(scenario(&word, vec![reply("Three things.", calls), reply("All done.", vec![])]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("turn-paused").await;
    let asked: Vec<Value> =
        events.named("approval-required").into_iter().map(|event| event.data.clone()).collect();
    assert_eq!(asked.len(), 3);
    for (question, decision) in asked.iter().rev().zip(["approve", "deny", "approve"]) {
        let approval = question["approvalId"].as_str().unwrap();
        workspace.resolve(approval, &json!({"decision": decision})).await.expect(200);
    }
    assert_eq!(soon("the end of the turn", events.turn_end()).await.name, "turn-completed");
    let ends = events.named("tool-call-end");
    let mut statuses: Vec<_> = ends.iter().map(|event| event.data["status"].as_str().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["completed", "completed", "denied"]);
    let requests = world.installation.model.requests_with(&word);
    assert_eq!(requests.len(), 2, "the model goes on only when each call has its result");
}

/// F10: the answer comes before, with or right after the pause. No wake-up is lost.
#[tokio::test]
async fn f10_answered_at_the_very_moment_of_the_pause() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("moment"));
    let replies = vec![reply("Now.", vec![code("print(1)")]), reply("Done.", vec![])];
    world.script(scenario(&word, replies));
    let races = (0..8).map(|_| async {
        let turn = workspace.say(&word).await;
        let mut events = workspace.events(&turn.conversation).await;
        let asked = events.until("approval-required").await.data;
        workspace
            .resolve(asked["approvalId"].as_str().unwrap(), &json!({"decision": "deny"}))
            .await
            .expect(200);
        let end = events.turn_end().await;
        assert_eq!(end.name, "turn-completed", "{}", end.data);
        crate::road::sound(&workspace.facts(&turn.conversation).await);
    });
    join_all(races).await;
}
