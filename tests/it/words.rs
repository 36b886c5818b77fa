//! Refusals and questions as a person at a desk reads them: what, why, which rule, what to do.

use oxagen_domain::Role;
use oxagen_tests::{Ran, Workspace, code, reply, scenario, word, world};
use serde_json::{Value, json};

use crate::road;

async fn oxagen(workspace: &Workspace, arguments: &[&str]) -> Ran {
    let key = workspace.http.key.clone().unwrap();
    let own = [("OXAGEN_URL", workspace.http.url.as_str()), ("OXAGEN_API_KEY", key.as_str())];
    world().installation.run(arguments, &own).await
}

/// What was said must hold all of these; it is printed, for whoever reads the tests' output.
#[track_caller]
fn says(arguments: &[&str], ran: &Ran, words: &[&str]) {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    println!("$ oxagen {}\n{said}", arguments.join(" "));
    for word in words {
        assert!(said.contains(word), "it does not say `{word}`: {said}");
    }
}

async fn rules(workspace: &Workspace, rules: Value) {
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    policy["policy"]["rules"] = rules;
    workspace.http.put("/v1/policy", &policy).await.expect(200);
}

#[tokio::test]
async fn explanations_name_the_rule_and_what_to_do() {
    let world = world();
    let workspace = world.workspace().await;
    let python = r#"{"language": "python", "code": "1"}"#;
    let shell = r#"{"language": "shell", "code": "1"}"#;
    let slow = r#"{"language": "python", "code": "1", "timeoutMs": 60000}"#;
    let no_shell = json!([{"name": "no-shell", "effect": "deny", "capability": "agent.code.*",
                           "when": [{"pointer": "/language", "test": "equals", "value": "shell"}]}]);
    rules(&workspace, no_shell).await;
    let closed = world.workspace_with(Default::default()).await;
    let explain = ["policy", "explain", "agent.code.execute", "--input"];
    for (whose, more, words) in [
        (&workspace, vec![python], vec!["ask: rule `capability.asks_approval`", "asks a person"]),
        (
            &workspace,
            vec![python, "--mode", "plan"],
            vec!["deny: rule `plan_mode`", "until a person has approved"],
        ),
        (&workspace, vec![python, "--role", "viewer"], vec!["deny: rule `role`", "ask an owner"]),
        (&workspace, vec![shell], vec!["deny: rule `rules.no-shell`", "change the rule"]),
        (&workspace, vec![slow], vec!["deny: rule `tier.timeout`", "ask for 30000 or less"]),
        (&closed, vec![python], vec!["deny: rule `allowlist`", "add it to `enabled`"]),
    ] {
        let arguments = [explain.as_slice(), more.as_slice()].concat();
        says(&arguments, &oxagen(whose, &arguments).await, &words);
    }
    let mut policy = workspace.http.get("/v1/policy").await.expect(200);
    policy["policy"]["killSwitch"] = json!({"workspace": true});
    workspace.http.put("/v1/policy", &policy).await.expect(200);
    let arguments = [explain.as_slice(), &[python]].concat();
    says(
        &arguments,
        &oxagen(&workspace, &arguments).await,
        &["rule `kill_switch.workspace`", "take it back"],
    );
}

#[tokio::test]
async fn refused_answers_say_who_could_answer_and_what_was_decided() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("words"));
    let terms = json!([{"name": "four-eyes", "effect": "ask", "capability": "agent.code.execute",
                        "approval": {"needed": 2, "excludeRequester": true}}]);
    rules(&workspace, terms).await;
    world.script(scenario(&word, vec![reply("Now.", vec![code("print(1)")]), reply("Done.", vec![])]));
    let (_, mut events, asked) = road::ask(&workspace, &word).await;
    let approval = asked["approvalId"].as_str().unwrap();
    let approve = ["approve", approval];
    says(&approve, &oxagen(&workspace, &approve).await, &["403", "wants somebody else"]);
    let (member, admin) = (workspace.as_role(Role::Member).await, workspace.as_role(Role::Admin).await);
    says(&approve, &oxagen(&member, &approve).await, &["approved by 1 of the 2 people"]);
    let change = ["deny", approval, "--note", "no"];
    says(&change, &oxagen(&member, &change).await, &["409", "you have answered already: approved"]);
    let edit = ["approve", approval, "--input", r#"{"language": "python", "code": "2"}"#];
    says(&edit, &oxagen(&admin, &edit).await, &["422", "needs 2 people"]);
    says(&change, &oxagen(&admin, &change).await, &["denied: call"]);
    events.turn_end().await;
    let third = workspace.as_role(Role::Owner).await;
    says(
        &approve,
        &oxagen(&third, &approve).await,
        &["409, approval_closed", "denied by", "resolution: denied"],
    );
    let settle = ["settle", asked["callId"].as_str().unwrap(), "--not-done"];
    says(&settle, &oxagen(&workspace, &settle).await, &["409, call_ended", "not in doubt"]);
    let plan = ["plan", "approve", "00000000-0000-7000-8000-000000000001"];
    says(&plan, &oxagen(&workspace, &plan).await, &["404", "no such plan"]);
}

#[tokio::test]
async fn a_limited_key_says_what_it_lacks_and_who_can_help() {
    let workspace = world().workspace().await;
    let create = [
        "key",
        "create",
        "reads",
        "--role",
        "member",
        "--right",
        "read",
        "--capability",
        "agent.tool.*",
        "--json",
    ];
    let made: Value = serde_json::from_str(&oxagen(&workspace, &create).await.done()).unwrap();
    let http = workspace.http.with_key(made["secret"].as_str().unwrap());
    let limited = Workspace { http, ..workspace.clone() };
    let list = ["settle"];
    says(&list, &oxagen(&limited, &list).await, &["403", "this key is limited", "ask an owner or admin"]);
    let explain =
        ["policy", "explain", "agent.code.execute", "--input", r#"{"language": "python", "code": "1"}"#];
    says(&explain, &oxagen(&limited, &explain).await, &["403", "does not reach policy.explain"]);
    let run = ["turn", "hello"];
    says(&run, &oxagen(&limited, &run).await, &["403", "has no right to `act`"]);
}
