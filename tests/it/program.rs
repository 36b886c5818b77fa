//! The program at a desk: what people and scripts type, its exit codes, and what it says.

use oxagen_tests::{Ran, Workspace, call, code, reply, scenario, until, word, world};
use serde_json::{Value, json};

use crate::road;

async fn oxagen(workspace: &Workspace, arguments: &[&str]) -> Ran {
    let key = workspace.http.key.clone().unwrap();
    let own = [("OXAGEN_URL", workspace.http.url.as_str()), ("OXAGEN_API_KEY", key.as_str())];
    world().installation.run(arguments, &own).await
}

fn json_of(ran: Ran) -> Value {
    let printed = ran.done();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

#[tokio::test]
async fn a_turn_streams_its_answer_and_is_approved_from_elsewhere() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("desk"));
    world.script(road::computes(&word));
    let approving = async {
        let open = until("an approval in the inbox", async || {
            workspace.http.get("/v1/approvals?status=open").await.expect(200)["items"].get(0).cloned()
        })
        .await;
        let approval = open["approvalId"].as_str().unwrap().to_owned();
        json_of(oxagen(&workspace, &["approve", &approval, "--note", "go ahead", "--json"]).await)
    };
    let words = ["turn", &word];
    let (turn, receipt) = tokio::join!(oxagen(&workspace, &words), approving);
    assert_eq!((&receipt["decision"], &receipt["note"]), (&json!("approve"), &json!("go ahead")));
    for words in
        ["why: agent.code.execute asks a person", "rule `capability.asks_approval`", "oxagen approve"]
    {
        assert!(turn.stderr.contains(words), "the question does not say `{words}`: {}", turn.stderr);
    }
    let printed = turn.done();
    assert!(printed.contains("It is 42."), "{printed}");

    let all = oxagen(&workspace, &["turn", "--yes", "--json", &word]).await.done();
    let events: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!events.is_empty() && all.contains("turn.completed"), "{all}");
}

#[tokio::test]
async fn a_plan_is_shown_at_the_desk_and_carried_out_once_it_is_approved() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("desk-plan"));
    let step = json!({"id": "only", "summary": "Print it.", "capability": "agent.code.execute",
                      "input": {"language": "python", "code": "print('planned')"}});
    let plan = call("agent_plan_create", json!({"title": "One program", "steps": [step]}));
    world.script(scenario(
        &word,
        vec![
            reply("A plan.", vec![plan]),
            reply("As planned.", vec![code("print('planned')")]),
            reply("It is done.", vec![]),
        ],
    ));
    let yes = oxagen(&workspace, &["turn", "--mode", "plan", "--yes", &word]).await;
    let shown = yes.stderr.clone();
    assert!(yes.done().contains("It is done."), "{shown}");
    for words in [
        "The agent plans: One program (version 1",
        "only: Print it.",
        "agent.code.execute",
        "approved by --yes",
        "planned",
    ] {
        assert!(shown.contains(words), "it does not say `{words}`: {shown}");
    }
    // Without a terminal to ask on it says how to answer, and goes on when somebody has.
    let approving = async {
        let proposed = until("the plan that waits", async || {
            let facts = workspace.http.get("/v1/events?type=plan.proposed&limit=200").await.expect(200);
            facts["items"].get(1).map(|fact| fact["aggregateId"].as_str().unwrap().to_owned())
        })
        .await;
        oxagen(&workspace, &["plan", "approve", &proposed]).await.done()
    };
    let words = ["turn", "--mode", "plan", &word];
    let (turn, approved) = tokio::join!(oxagen(&workspace, &words), approving);
    assert!(approved.contains("version 1 is approved"), "{approved}");
    assert!(turn.stderr.contains("it waits: oxagen plan approve"), "{}", turn.stderr);
    assert!(turn.done().contains("It is done."));
}

#[tokio::test]
async fn a_denial_from_the_desk_reaches_the_model() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("deny"));
    let replies = vec![reply("I will run it.", vec![code("print(1)")]), reply("Understood.", vec![])];
    world.script(scenario(&word, replies));
    let (_, mut events, asked) = road::ask(&workspace, &word).await;
    let approval = asked["approvalId"].as_str().unwrap();
    oxagen(&workspace, &["deny", approval, "--note", "wait for Friday"]).await.done();
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let again = oxagen(&workspace, &["approve", approval]).await;
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("denied"), "the decision is in the refusal: {}", again.stderr);
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let world = world();
    let workspace = world.workspace().await;
    let made = json_of(oxagen(&workspace, &["key", "create", "--role", "viewer", "reader", "--json"]).await);
    let key = made["keyId"].as_str().unwrap();
    until("the key in the list", async || {
        oxagen(&workspace, &["key", "list", "--json"]).await.done().contains(key).then_some(())
    })
    .await;
    oxagen(&workspace, &["key", "revoke", key]).await.done();
    let unable = Workspace { http: workspace.http.with_key("oxk_nonsense"), ..workspace.clone() };
    assert_eq!(oxagen(&unable, &["key", "list"]).await.code, Some(5));
}

#[tokio::test]
async fn a_workspace_is_made_closed_unless_it_is_a_quick_start() {
    let world = world();
    let run = |arguments: &'static [&'static str]| world.installation.run(arguments, &[]);
    let made = json_of(run(&["workspace", "create", "--quick-start", "--json"]).await);
    for member in ["tenantId", "workspaceId", "apiKey"] {
        assert!(made[member].is_string(), "no {member}: {made}");
    }
    let body = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}});
    let open = oxagen_tests::Http::open(world.url()).with_key(made["apiKey"].as_str().unwrap());
    open.post("/v1/tool-calls", &body).await.expect(202);
    let made = json_of(run(&["workspace", "create", "--name", "closed", "--json"]).await);
    let closed = oxagen_tests::Http::open(world.url()).with_key(made["apiKey"].as_str().unwrap());
    closed.post("/v1/tool-calls", &body).await.problem(403, "denied_by_policy");
}

#[tokio::test]
async fn wrong_usage_and_what_is_not_there_have_their_exit_codes() {
    let world = world();
    let workspace = world.workspace().await;
    let nobody = uuid::Uuid::now_v7().to_string();
    assert_eq!(oxagen(&workspace, &["frobnicate"]).await.code, Some(2));
    assert_eq!(oxagen(&workspace, &["approve", "not-an-id"]).await.code, Some(2));
    let missing = oxagen(&workspace, &["approve", &nobody]).await;
    assert_eq!(missing.code, Some(4), "{}", missing.stderr);
    let own = [("OXAGEN_URL", "http://127.0.0.1:1"), ("OXAGEN_API_KEY", "oxk_nonsense")];
    let nowhere = world.installation.run(&["turn", "hello"], &own).await;
    assert_eq!(nowhere.code, Some(3), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("127.0.0.1:1"), "where it looked: {}", nowhere.stderr);
    assert!(oxagen(&workspace, &["--help"]).await.done().contains("oxagen turn"));
}

#[tokio::test]
async fn the_settings_in_force_are_shown_without_secrets_and_wrong_ones_refused_by_name() {
    let installation = &world().installation;
    let shown = installation.run(&["config"], &[]).await.done();
    assert!(shown.contains("OXAGEN_NATS_PREFIX") || shown.contains("nats.prefix"), "{shown}");
    assert!(!shown.contains("oxagen-dev") && !shown.contains(":oxagen@"), "a secret: {shown}");
    let wrong = installation.run(&["config"], &[("OXAGEN_SANDBOX_CPUS", "many")]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("OXAGEN_SANDBOX_CPUS") && wrong.stderr.contains("many"),
        "{}",
        wrong.stderr
    );
    let unknown = installation.run(&["config"], &[("OXAGEN_SANDBOX_CPU", "1")]).await;
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("OXAGEN_SANDBOX_CPU") && unknown.stderr.contains("OXAGEN_SANDBOX_CPUS"),
        "{}",
        unknown.stderr
    );
}
