//! The workspace's policy: set, read and explained over HTTP, and what it says counts from the moment it was answered.
//!
//! Covers `agent.policy.read` and `agent.policy.set`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use futures::future::join_all;
use oxagen_domain::Role;
use oxagen_tests::{Workspace, call, reply, scenario, until, word, world};
use serde_json::{Value, json};

use crate::road;

async fn change(workspace: &Workspace, change: impl FnOnce(&mut Value)) -> Value {
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    change(&mut policy["policy"]);
    workspace.http.put("/v1/policy", &policy).await.expect(200)
}

fn python(code: &str) -> Value {
    json!({"capability": "agent.code.execute", "input": {"language": "python", "code": code}})
}

#[tokio::test]
async fn a_rule_decides_by_the_arguments_and_is_named_wherever_it_did() {
    let world = world();
    let workspace = world.workspace().await;
    let before = workspace.http.get("/v1/policy").await.expect(200);
    let rules = json!([
        {"name": "no-shell", "effect": "deny", "capability": "agent.code.*", "reason": "Nobody runs shells here.",
         "when": [{"pointer": "/language", "test": "equals", "value": "shell"}]},
        {"name": "python-is-fine", "effect": "allow", "capability": "agent.code.execute",
         "when": [{"pointer": "/language", "test": "in", "value": ["python"]}]},
    ]);
    let set = change(&workspace, |policy| policy["rules"] = rules).await;
    assert_eq!(set["version"].as_u64().unwrap(), before["version"].as_u64().unwrap() + 1);

    let shell = json!({"capability": "agent.code.execute", "input": {"language": "shell", "code": "true"}});
    let refused = workspace.http.post("/v1/tool-calls", &shell).await.problem(403, "denied_by_policy");
    assert_eq!(refused["rule"], "rules.no-shell");
    assert!(refused["detail"].as_str().unwrap().starts_with("Nobody runs shells here."), "{refused}");
    let told = workspace.http.post("/v1/policy/explain", &shell).await.expect(200);
    assert_eq!((&told["decision"], &told["rule"]), (&json!("deny"), &json!("rules.no-shell")), "{told}");

    // What is allowed by a rule runs without a question, and the rule is in its row.
    let done = workspace.http.post("/v1/tool-calls", &python("print(7)")).await.expect(202);
    let path = format!("/v1/tool-calls/{}", done["callId"].as_str().unwrap());
    let row = until("the end of the call", async || {
        let row = workspace.http.get(&path).await.expect(200);
        (row["status"] == "completed").then_some(row)
    })
    .await;
    assert_eq!(
        (&row["policyRule"], &row["requiredApproval"]),
        (&json!("rules.python-is-fine"), &json!(false))
    );
}

#[tokio::test]
async fn a_policy_is_set_by_those_who_may_and_only_at_the_version_that_they_saw() {
    let world = world();
    let workspace = world.workspace().await;
    let seen = workspace.http.get("/v1/policy").await.expect(200);
    workspace.http.put("/v1/policy", &seen).await.expect(200);
    let stale = workspace.http.put("/v1/policy", &seen).await.problem(409, "conflict");
    assert_eq!(stale["version"].as_u64().unwrap(), seen["version"].as_u64().unwrap() + 1, "{stale}");
    let flawed = json!({"policy": {"rules": [{"name": "x", "effect": "deny", "capability": "*",
                                             "when": [{"pointer": "x", "test": "equals", "value": 1}]}]}});
    let refused = workspace.http.put("/v1/policy", &flawed).await.problem(422, "invalid_input");
    assert_eq!(refused["field"], "/policy/rules/0/when/0", "{refused}");
    let unknown = json!({"policy": {"tear": "team"}});
    workspace.http.put("/v1/policy", &unknown).await.problem(422, "invalid_input");
    for role in [Role::Member, Role::Service, Role::Viewer] {
        let other = workspace.as_role(role).await;
        other.http.get("/v1/policy").await.expect(200);
        other.http.put("/v1/policy", &json!({"policy": {}})).await.problem(403, "forbidden");
    }
    let other = world.workspace().await;
    let theirs = other.http.get("/v1/policy").await.expect(200);
    assert_eq!(theirs["version"], 1, "another workspace's policy is its own");
}

/// Clients go on calling while the switch is thrown, and runners go on starting what was cleared before.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_starts_after_a_kill_switch_has_answered() {
    let world = world();
    let workspace = world.workspace().await;
    let (stop, denied) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    change(&workspace, |policy| {
        policy["rules"] = json!([{"name": "go", "effect": "allow", "capability": "agent.code.execute"}]);
    })
    .await;
    let starters = (0..6).map(|_| {
        let (workspace, stop, denied) = (workspace.clone(), Arc::clone(&stop), Arc::clone(&denied));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let answer = workspace.http.post("/v1/tool-calls", &python("pass")).await;
                assert!(matches!(answer.status, 202 | 403 | 429 | 503), "{}", answer.text);
                denied.fetch_add(usize::from(answer.status == 403), Ordering::Relaxed);
            }
        })
    });
    let starters: Vec<_> = starters.collect();
    until("some calls that run", async || {
        let facts = workspace.http.get("/v1/events?type=tool_call.completed&limit=20").await.expect(200);
        (facts["items"].as_array().unwrap().iter().filter(|fact| is_code(fact)).count() >= 3).then_some(())
    })
    .await;
    let set =
        change(&workspace, |policy| policy["killSwitch"] = json!({"capabilities": ["agent.code.*"]})).await;
    until("calls that are denied", async || (denied.load(Ordering::Relaxed) >= 50).then_some(())).await;
    stop.store(true, Ordering::Relaxed);
    join_all(starters).await.into_iter().for_each(|done| done.unwrap());

    let by_the_switch = |fact: &Value| fact["payload"]["record"]["policyRule"] == "kill_switch.capability";
    let facts = until("a denial by the switch in the history", async || {
        Some(all_facts(&workspace).await).filter(|facts| facts.iter().any(by_the_switch))
    })
    .await;
    let switched = facts
        .iter()
        .position(|fact| fact["type"] == "policy.set" && fact["aggregateVersion"] == set["version"])
        .unwrap();
    let code: Vec<_> = facts
        .iter()
        .filter(|fact| {
            fact["type"] == "tool_call.requested"
                && fact["payload"]["spec"]["capability"] == "agent.code.execute"
        })
        .map(|fact| fact["aggregateId"].clone())
        .collect();
    let started = |facts: &[Value]| {
        facts.iter().filter(|f| f["type"] == "tool_call.started" && code.contains(&f["aggregateId"])).count()
    };
    assert!(started(&facts[..switched]) >= 3, "some ran before");
    assert_eq!(started(&facts[switched..]), 0, "none started after the switch");
    assert!(!facts[..switched].iter().any(by_the_switch), "it denies nothing before it is thrown");
}

/// Agents' calls: each turn starts twenty in one commit, and several turns run at a time. The rate is printed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_starts_after_a_kill_switch_has_answered_while_turns_start_twenty_calls_each() {
    const CALLS: usize = 20;
    let world = world();
    let (workspace, word) = (world.workspace().await, word("hundred"));
    let looks = (0..CALLS).map(|_| call("agent_tool_list", json!({}))).collect();
    world.script(scenario(&word, vec![reply("I look.", looks), reply("Seen.", vec![])]));
    let (begun, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let starters: Vec<_> = (0..8)
        .map(|_| {
            let (workspace, stop, word) = (workspace.clone(), Arc::clone(&stop), word.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let answer = workspace.http.post("/v1/turns", &json!({"text": word})).await;
                    assert!(matches!(answer.status, 202 | 429 | 503), "{}", answer.text);
                    // As one who waits for the agent's answer before saying more.
                    if answer.status == 202 {
                        let conversation = answer.json["conversationId"].as_str().unwrap().to_owned();
                        workspace.events(&conversation).await.turn_end().await;
                    }
                }
            })
        })
        .collect();
    let head = async |kind: &str, wanted: usize| {
        let facts = workspace.http.get(&format!("/v1/events?type={kind}&limit=200")).await.expect(200);
        (facts["items"].as_array().unwrap().len() >= wanted).then_some(())
    };
    until("many calls that ran", async || head("tool_call.completed", 200).await).await;
    let set =
        change(&workspace, |policy| policy["killSwitch"] = json!({"capabilities": ["agent.tool.*"]})).await;
    let lasted = begun.elapsed();
    until("many calls that were denied", async || head("tool_call.denied", 100).await).await;
    stop.store(true, Ordering::Relaxed);
    join_all(starters).await.into_iter().for_each(|done| done.unwrap());

    let facts = all_facts(&workspace).await;
    let switched = facts
        .iter()
        .position(|fact| fact["type"] == "policy.set" && fact["aggregateVersion"] == set["version"])
        .unwrap();
    let starts = |facts: &[Value]| facts.iter().filter(|fact| fact["type"] == "tool_call.started").count();
    let before = starts(&facts[..switched]);
    println!("{before} calls started in {lasted:?}: {:.0}/s", before as f64 / lasted.as_secs_f64());
    assert!(before >= 200, "only {before} ran before");
    assert_eq!(starts(&facts[switched..]), 0, "none starts after its answer");
    let denied =
        facts.iter().filter(|fact| fact["payload"]["record"]["policyRule"] == "kill_switch.capability");
    assert!(denied.count() >= 100, "those that came later were denied");
}

fn is_code(fact: &Value) -> bool {
    fact["payload"]["record"]["capability"] == "agent.code.execute"
}

async fn all_facts(workspace: &Workspace) -> Vec<Value> {
    let (mut facts, mut after) = (Vec::new(), 0);
    loop {
        let page = workspace.http.get(&format!("/v1/events?after={after}&limit=200")).await.expect(200);
        let items = page["items"].as_array().unwrap();
        let Some(last) = items.last() else { return facts };
        after = last["seq"].as_u64().unwrap();
        facts.extend(items.iter().cloned());
    }
}

#[tokio::test]
async fn a_kill_switch_that_cancels_ends_what_runs_and_the_turn_goes_on() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("switch"));
    let endless = json!({"language": "python", "timeoutMs": 30_000, "code": "import time\nwhile True: print('on', flush=True); time.sleep(1)"});
    let calls = vec![call("agent_code_execute", endless)];
    world.script(scenario(&word, vec![reply("It runs.", calls), reply("It was stopped.", vec![])]));
    let (turn, mut events, asked) = road::ask(&workspace, &word).await;
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    events.until("tool-call-output").await;
    change(&workspace, |policy| policy["killSwitch"] = json!({"workspace": true, "cancel": true})).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    let ended = events.named("tool-call-end");
    assert_eq!((ended.len(), &ended[0].data["status"]), (1, &json!("cancelled")), "{ended:?}");
    assert!(ended[0].data["error"]["message"].as_str().unwrap().contains("kill switch"));
    let requests = world.installation.model.requests_with(&word);
    let told = requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(told["content"].as_str().unwrap().contains("kill switch"), "{told}");
    road::sound(&workspace.facts(&turn.conversation).await);
}
