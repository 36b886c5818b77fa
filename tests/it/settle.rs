//! Calls whose outcome nobody knew, settled by people; the model is told the truth each time.

use oxagen_domain::Role;
use oxagen_domain::policy::{PolicyDocument, Rule, RuleEffect};
use oxagen_tests::{
    Containers, Installation, Process, Rows, Turn, Workspace, call, reply, scenario, until, waits, word,
};
use serde_json::{Value, json};

use crate::road;

const OTHERS: &[&str] =
    &["gateway", "relay", "reactor", "projector-postgres", "projector-clickhouse", "projector-neo4j"];

struct Scene {
    installation: Installation,
    workspace: Workspace,
    turn: Turn,
    call: String,
    _processes: [Process; 2],
}

/// A call with network whose runner was killed in the middle, and its turn that went on.
async fn in_doubt() -> Scene {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let mut runner = installation.start(&["runner"]).await;
    let go = Rule {
        name: "go".to_owned(),
        effect: RuleEffect::Allow,
        capability: "agent.code.execute".to_owned(),
        when: vec![],
        reason: None,
        approval: None,
    };
    let policy = PolicyDocument {
        tier: "enterprise".to_owned(),
        enabled: ["agent.code.execute".to_owned()].into(),
        network: true,
        rules: vec![go],
        ..PolicyDocument::default()
    };
    let workspace = installation.workspace_with(&others.url, policy).await;
    let word = word("doubt");
    let arguments = json!({"language": "python", "code": waits(), "network": "allow", "timeoutMs": 300_000});
    let replies =
        vec![reply("I pay.", vec![call("agent_code_execute", arguments)]), reply("So be it.", vec![])];
    installation.model.add_scenarios(vec![scenario(&word, replies)]);
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    events.until("tool-call-output").await;
    runner.kill();
    let second = installation.start(&["runner"]).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let end = events.named("tool-call-end")[0].data.clone();
    assert_eq!(end["status"], "in_doubt", "{end}");
    let call = end["callId"].as_str().unwrap().to_owned();
    Scene { installation, workspace, turn, call, _processes: [others, second] }
}

impl Scene {
    async fn settle(&self, body: &Value) -> oxagen_tests::Answer {
        self.workspace.http.post(&format!("/v1/tool-calls/{}/settle", self.call), body).await
    }

    /// What the model is told of the call when it is asked something else.
    async fn told_later(&self) -> String {
        let again = word("later");
        self.installation.model.add_scenarios(vec![scenario(&again, vec![reply("I see.", vec![])])]);
        let turn = self.workspace.say_in(&self.turn.conversation, &again).await;
        self.workspace.settled(&turn, "completed").await;
        let requests = self.installation.model.requests_with(&again);
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
        assert_eq!(results.len(), 1, "one result: {results:?}");
        results[0]["content"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_doubt_is_listed_and_settled_as_done() {
    let scene = in_doubt().await;
    assert!(scene.told_later().await.contains("unknown"));
    let listed = until("the call among those in doubt", async || {
        let page = scene.workspace.http.get("/v1/tool-calls?status=in_doubt").await.expect(200);
        page["items"].get(0).cloned()
    })
    .await;
    assert_eq!(listed["callId"], scene.call.as_str());
    for role in [Role::Viewer, Role::Service] {
        let unable = scene.workspace.as_role(role).await;
        let path = format!("/v1/tool-calls/{}/settle", scene.call);
        unable.http.post(&path, &json!({"outcome": "not_done"})).await.problem(403, "forbidden");
    }
    let done = json!({"outcome": "done", "output": {"paid": "once"}, "note": "I looked"});
    let receipt = scene.settle(&done).await.expect(200);
    assert_eq!((&receipt["status"], &receipt["outcome"]), (&json!("completed"), &json!("done")));
    scene.settle(&done).await.expect(200);
    let refused = scene.settle(&json!({"outcome": "not_done"})).await.problem(409, "call_ended");
    assert!(refused["detail"].as_str().unwrap().contains("completed"), "{refused}");
    let told = scene.told_later().await;
    assert!(told.contains("a person looked") && told.contains("once"), "{told}");
    let rows = Rows::of(&scene.installation).await;
    let row = road::one_of_each(&rows, &scene.workspace.tenant, &scene.call, "completed", 1).await;
    assert_eq!(row["settled_as"], "done", "{row}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_lets_run_again_runs_once_more_and_the_model_hears_of_it() {
    let scene = in_doubt().await;
    let receipt = scene.settle(&json!({"outcome": "run_again"})).await.expect(200);
    assert_eq!(receipt["status"], "cleared");
    let containers = Containers::at(&scene.installation.servers.docker_host);
    let path = format!("/v1/tool-calls/{}", scene.call);
    until("the end of the second attempt, which is let go", async || {
        containers.let_go(&scene.call).await;
        (scene.workspace.http.get(&path).await.expect(200)["status"] == "completed").then_some(())
    })
    .await;
    let rows = Rows::of(&scene.installation).await;
    let row = road::one_of_each(&rows, &scene.workspace.tenant, &scene.call, "completed", 2).await;
    assert_eq!(row["output"]["stdout"], "begun\ndone\n");
    let told = scene.told_later().await;
    assert!(told.contains("begun") && !told.contains("unknown"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_did_not_happen_is_said_to_have_failed() {
    let scene = in_doubt().await;
    let not = json!({"outcome": "not_done", "note": "the bank says no"});
    scene.settle(&not).await.expect(200);
    let told = scene.told_later().await;
    assert!(told.contains("did not happen") && told.contains("the bank says no"), "{told}");
    let rows = Rows::of(&scene.installation).await;
    road::one_of_each(&rows, &scene.workspace.tenant, &scene.call, "failed", 1).await;
}
