//! Keys that are limited below their role: in what they may do, what they reach, and where their calls may come from.

use oxagen_domain::Role;
use oxagen_tests::{Workspace, code, reply, scenario, until, word, world};
use serde_json::{Value, json};

use crate::road;

/// A member's key with these limits.
async fn limited(workspace: &Workspace, limits: &Value) -> Workspace {
    let key = json!({"name": "limited", "role": "member", "limits": limits});
    let made = workspace.http.post("/v1/keys", &key).await.expect(201);
    assert_eq!(&made["limits"], limits, "{made}");
    Workspace { http: workspace.http.with_key(made["secret"].as_str().unwrap()), ..workspace.clone() }
}

#[tokio::test]
async fn a_limited_key_passes_only_the_doors_that_it_reaches() {
    let world = world();
    let workspace = world.workspace().await;
    let limits = json!({"rights": ["read", "act"], "capabilities": ["agent.conversation.*", "agent.tool.*"]});
    let key = limited(&workspace, &limits).await;
    let me = key.http.get("/v1/me").await.expect(200);
    assert_eq!(
        (&me["limits"], &me["rights"]),
        (&limits, &json!(["read", "act"])),
        "every key may ask what it is"
    );
    key.http.get("/v1/conversations").await.expect(200);
    for path in ["/v1/approvals", "/v1/policy", "/v1/events"] {
        let refused = key.http.get(path).await.problem(403, "forbidden");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("does not reach") && detail.contains("ask an owner or admin"), "{detail}");
    }
    key.http.post("/v1/turns", &json!({"text": "hello"})).await.problem(403, "forbidden");
    let run = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}});
    let refused = key.http.post("/v1/tool-calls", &run).await.problem(403, "denied_by_policy");
    assert_eq!(refused["rule"], "key.capability", "{refused}");
    key.http.post("/v1/tool-calls", &json!({"capability": "agent.tool.list"})).await.expect(202);
    let told = workspace.http.post("/v1/policy/explain", &run).await.expect(200);
    assert_eq!(told["decision"], "ask", "other keys are not touched: {told}");

    let listed = until("the key in its view", async || {
        let page = workspace.http.get("/v1/keys").await.expect(200);
        page["items"].as_array().unwrap().iter().find(|key| key["name"] == "limited").cloned()
    })
    .await;
    assert_eq!(listed["limits"], limits, "{listed}");
    for (flawed, field) in [
        (json!({"rights": []}), "/limits/rights"),
        (json!({"capabilities": []}), "/limits/capabilities"),
        (json!({"nothing": 1}), "/limits/nothing"),
    ] {
        let key = json!({"name": "x", "role": "member", "limits": flawed});
        let refused = workspace.http.post("/v1/keys", &key).await.problem(422, "invalid_input");
        assert_eq!(refused["field"], field, "{refused}");
    }
}

#[tokio::test]
async fn a_key_that_may_not_decide_answers_nothing_and_one_with_limits_makes_no_keys() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("limits"));
    world.script(road::computes(&word));
    let (_, mut events, asked) = road::ask(&workspace, &word).await;
    let key = limited(&workspace, &json!({"rights": ["read", "act"]})).await;
    let approval = asked["approvalId"].as_str().unwrap();
    let refused = key.resolve(approval, &json!({"decision": "approve"})).await.problem(403, "forbidden");
    assert!(refused["detail"].as_str().unwrap().contains("no right to `decide`"), "{refused}");
    let other = workspace.as_role(Role::Admin).await;
    let made = json!({"name": "x", "role": "admin", "limits": {"rights": ["read", "administer"]}});
    let made = other.http.post("/v1/keys", &made).await.expect(201);
    let narrow = other.http.with_key(made["secret"].as_str().unwrap());
    narrow.post("/v1/keys", &json!({"name": "wider", "role": "admin"})).await.problem(403, "forbidden");
    workspace.approve(approval).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
}

#[tokio::test]
async fn the_limits_of_a_key_hold_for_all_that_its_turns_do() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("reach"));
    world.script(scenario(&word, vec![reply("I run it.", vec![code("print(1)")]), reply("So not.", vec![])]));
    for (limits, rule) in [
        (
            json!({"capabilities": ["agent.conversation.*", "agent.history.read", "agent.turn.*"]}),
            "key.capability",
        ),
        (json!({"surfaces": ["api"]}), "key.surface"),
    ] {
        let key = limited(&workspace, &limits).await;
        let turn = key.say(&word).await;
        let mut events = workspace.events(&turn.conversation).await;
        assert_eq!(events.turn_end().await.name, "turn-completed");
        assert!(
            events.named("approval-required").is_empty(),
            "nobody is asked about what the key may not do"
        );
        let end = &events.named("tool-call-end")[0].data;
        assert_eq!(
            (&end["status"], &end["payload"]["record"]["policyRule"]),
            (&json!("denied"), &json!(rule)),
            "{end}"
        );
    }
}
