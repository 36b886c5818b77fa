//! Who may pass each door: made from the route table, so that a new route cannot be forgotten. Each is tried without a
//! key, as a viewer, from another workspace of the tenant, from another tenant, and by those who may.
//!
//! F40.

use std::collections::BTreeMap;

use oxagen_domain::Role;
use oxagen_tests::{Answer, Http, Workspace, until, word, world};
use reqwest::Method;
use serde_json::{Value, json};

use crate::road;

/// A door, as the route table lists it.
struct Door {
    method: Method,
    path: String,
    operation: String,
    right: String,
}

fn doors() -> Vec<Door> {
    let parse = |line: String| {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let [method, path, operation, right] = words.try_into().unwrap();
        Door { method: method.parse().unwrap(), path, operation, right }
    };
    oxagen_gateway::route_list().into_iter().map(parse).collect()
}

/// A body with which the door could do something, for those that want one. A new door must say what it takes.
fn body(operation: &str) -> Option<Value> {
    let run = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}});
    Some(match operation {
        "agent.turn.start" => json!({"text": "hello"}),
        "agent.turn.cancel" | "tool_call.cancel" => json!({"reason": "no"}),
        "conversation.rename" => json!({"title": "mine"}),
        "agent.conversation.archive" => json!({}),
        "tool_call.request" | "policy.explain" => run,
        "tool_call.settle" => json!({"outcome": "not_done"}),
        "agent.approval.resolve" => json!({"decision": "deny"}),
        "approval.resolve_many" => {
            json!({"answers": [{"approvalId": uuid::Uuid::nil(), "decision": "deny"}]})
        }
        "agent.policy.set" => json!({"policy": {}, "version": 0}),
        "agent.plan.resolve" => json!({"decision": "reject"}),
        "agent.publish" => json!({"name": "x", "instructions": "x"}),
        "key.create" => json!({"name": "x", "role": "viewer"}),
        "object.keep" => json!("kept"),
        _ => return None,
    })
}

/// Ours, by the operation whose path names one.
struct Ours {
    workspace: Workspace,
    ids: BTreeMap<&'static str, String>,
}

/// A conversation with a plan that waits, a call that is held, a key, an answer that stands, an object.
async fn ours() -> Ours {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("matrix"));
    world.script(road::computes(&word));
    let (turn, _, asked) = road::ask(&workspace, &word).await;
    let run = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "pass"}});
    let held = workspace.http.post("/v1/tool-calls", &run).await.expect(202);
    let answer = json!({"decision": "approve", "remember": true});
    let receipt = workspace.resolve(held["approvalId"].as_str().unwrap(), &answer).await.expect(200);
    let planning = self::word_with_plan().await;
    let plan_turn = workspace.start(&json!({"text": planning, "mode": "plan"})).await;
    let mut events = workspace.events(&plan_turn.conversation).await;
    let plan = events.until("plan-proposed").await.data;
    let me = workspace.http.get("/v1/me").await.expect(200);
    let put = workspace
        .http
        .request(Method::POST, "/v1/objects")
        .header("content-type", "application/octet-stream");
    let kept = workspace.http.send(put.body("ours alone")).await;
    assert!((200..300).contains(&kept.status), "{}", kept.text);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ids = BTreeMap::from([
        ("turns", turn.id.clone()),
        ("conversations", turn.conversation.clone()),
        ("tool-calls", text(&asked["callId"])),
        ("approvals", text(&asked["approvalId"])),
        ("plans", text(&plan["planId"])),
        ("keys", text(&me["keyId"])),
        ("standing-approvals", text(&receipt["standingApprovalId"])),
        ("workspaces", workspace.id.clone()),
        ("objects", text(&kept.json["digest"])),
        ("errors", "not_found".to_owned()),
    ]);
    until("the views of all of that", async || {
        let inbox = workspace.http.get("/v1/approvals?status=open").await.expect(200);
        (inbox["items"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    Ours { workspace, ids }
}

async fn word_with_plan() -> String {
    let word = word("matrix-plan");
    let steps = json!({"title": "x", "steps": [{"id": "a", "summary": "a"}]});
    let make = oxagen_tests::reply("A plan.", vec![oxagen_tests::call("agent_plan_create", steps)]);
    world().script(oxagen_tests::scenario(&word, vec![make, oxagen_tests::reply("Done.", vec![])]));
    word
}

impl Ours {
    fn path(&self, door: &Door) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in door.path.split('/') {
            let noun = parts.last().cloned().unwrap_or_default();
            parts.push(if part.starts_with('{') {
                let known = self.ids.get(noun.as_str());
                known.unwrap_or_else(|| panic!("tell the matrix an id for {}", door.path)).clone()
            } else {
                part.to_owned()
            });
        }
        parts.join("/")
    }
}

async fn knock(http: &Http, door: &Door, path: &str) -> Answer {
    let mut request = http.request(door.method.clone(), path);
    // A stream that opens is cut by the answer's status alone.
    if let Some(body) = body(&door.operation) {
        request = request.json(&body);
    } else if matches!(door.method, Method::POST | Method::PUT | Method::PATCH) && door.path != "/v1/objects"
    {
        panic!("tell the matrix what {} takes", door.operation);
    }
    http.send(request).await
}

#[tokio::test]
async fn f40_every_door_opens_only_to_those_who_may() {
    let world = world();
    let ours = ours().await;
    let beside = world.installation.beside(&ours.workspace).await;
    let strangers = [
        ("another workspace", beside.as_role(Role::Member).await),
        ("another tenant", world.workspace().await),
    ];
    let viewer = ours.workspace.as_role(Role::Viewer).await;
    let secret =
        [ours.ids["conversations"].as_str(), ours.ids["tool-calls"].as_str(), ours.ids["plans"].as_str()];
    let mut tried = 0;
    for door in doors().iter().filter(|door| door.right != "open") {
        let (path, name) = (ours.path(door), format!("{} {}", door.method, door.path));
        let bare = knock(&Http::open(world.url()), door, &path).await;
        assert_eq!(bare.status, 401, "{name} without a key: {}", bare.text);
        if door.right != "read" {
            let refused = knock(&viewer.http, door, &path).await;
            // Many answers come one by one, each with its own refusal.
            let each = door.operation == "approval.resolve_many" && refused.status == 200;
            assert!(refused.status == 403 || each, "{name} as a viewer: {} {}", refused.status, refused.text);
        }
        for (who, stranger) in &strangers {
            let by_id = door.path.contains('{');
            if by_id {
                let answer = knock(&stranger.http, door, &path).await;
                let lacks = door.right == "administer" && answer.status == 403;
                // A body is kept once for a tenant, and opens to whoever knows its digest there.
                let shared = door.operation == "object.read" && *who == "another workspace";
                assert!(
                    answer.status == 404 || lacks || shared,
                    "{name} from {who}: {} {}",
                    answer.status,
                    answer.text
                );
            } else if door.method == Method::GET {
                let answer = knock(&stranger.http, door, &path).await;
                assert!(secret.iter().all(|id| !answer.text.contains(id)), "{name} from {who} shows ours");
            }
        }
        tried += 1;
    }
    assert!(tried >= 30, "only {tried} doors");

    // After all of that nothing of ours has changed, and the right one gets in.
    let kinds = ours.workspace.kinds(&ours.ids["conversations"]).await;
    let touched = ["approval.denied", "approval.approved", "turn.cancel_requested", "conversation.archived"];
    assert!(!kinds.iter().any(|kind| touched.contains(&kind.as_str())), "{kinds:?}");
    for door in doors().iter().filter(|door| door.method == Method::GET && !door.path.ends_with("/stream")) {
        let answer = knock(&ours.workspace.http, door, &ours.path(door)).await;
        assert!((200..400).contains(&answer.status), "GET {}: {} {}", door.path, answer.status, answer.text);
    }
    let plan = format!("/v1/plans/{}", ours.ids["plans"]);
    assert_eq!(ours.workspace.http.get(&plan).await.expect(200)["status"], "proposed");
}
