//! A runner that cannot be heard, or stands still, loses its turns to another one, and does no harm when it wakes.

use oxagen_domain::policy::PolicyDocument;
use oxagen_tests::{
    Containers, EventStream, Installation, Process, Proxy, Rows, Turn, Workspace, call, reply, scenario,
    until, word,
};
use serde_json::{Value, json};

use crate::road;

const OTHERS: &[&str] =
    &["gateway", "relay", "reactor", "projector-postgres", "projector-clickhouse", "projector-neo4j"];
/// It goes on while nobody can hear it.
const CODE: &str = "import time\nprint('begun', flush=True)\ntime.sleep(4)\nprint('done', flush=True)";

struct Scene {
    installation: Installation,
    workspace: Workspace,
    events: EventStream,
    turn: Turn,
    call: String,
    door: Proxy,
    processes: Vec<Process>,
}

/// What keeps the first runner from being heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// Its line to the journal.
    Silence,
    /// It gets no time to run.
    Frozen,
}

/// The first runner is in the effect when it happens; the second one comes then.
async fn in_the_effect(network: &str, trouble: Trouble) -> Scene {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let database = installation.settings["DATABASE_URL"].clone();
    let door = Proxy::to(&database).await;
    let (user, rest) = database.split_once('@').unwrap();
    let behind = format!("{user}@{}/{}", door.address(), rest.split_once('/').unwrap().1);
    let first = installation.start_with(&["runner"], &[("DATABASE_URL", &behind)]).await;
    let enabled = ["agent.code.execute".to_owned()].into();
    let policy =
        PolicyDocument { tier: "enterprise".to_owned(), enabled, network: true, ..PolicyDocument::default() };
    let workspace = installation.workspace_with(&others.url, policy).await;
    let word = word("fence");
    let arguments = json!({"language": "python", "code": CODE, "network": network});
    let replies = vec![
        reply("I will run it.", vec![call("agent_code_execute", arguments)]),
        reply("So be it.", vec![]),
    ];
    installation.model.add_scenarios(vec![scenario(&word, replies)]);
    let (turn, mut events, asked) = road::ask(&workspace, &word).await;
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    events.until("tool-call-output").await;
    match trouble {
        Trouble::Silence => door.stall(),
        Trouble::Frozen => first.signal("STOP"),
    }
    let second = installation.start(&["runner"]).await;
    let call = asked["callId"].as_str().unwrap().to_owned();
    Scene { installation, workspace, events, turn, call, door, processes: vec![others, first, second] }
}

impl Scene {
    async fn ends_once(&mut self) -> Vec<Value> {
        let end = self.events.turn_end().await;
        assert_eq!(end.name, "turn-completed", "{}", end.data);
        self.events.rest().await;
        // The first one wakes, and may say whatever it has to say.
        self.door.open();
        self.processes[1].signal("CONT");
        let urls: Vec<_> = self.processes.iter().map(|process| process.url.clone()).collect();
        until("the first runner being ready again", async || {
            let http = oxagen_tests::Http::open(&urls[1]);
            (http.try_get("/readyz").await?.status == 200).then_some(())
        })
        .await;
        let word = word("afterwards");
        self.installation.model.add_scenarios(vec![road::computes(&word)]);
        road::walk(&self.workspace, &word).await;

        let facts = self.workspace.facts(&self.turn.conversation).await;
        let kinds: Vec<_> = facts.iter().map(|fact| fact["type"].as_str().unwrap()).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "turn.taken_over").count(), 1, "{kinds:?}");
        assert_eq!(kinds.iter().filter(|kind| **kind == "turn.completed").count(), 1, "{kinds:?}");
        let containers = Containers::at(&self.installation.servers.docker_host);
        until("the call's container being gone", async || {
            containers.of_call(&self.call).await.is_none().then_some(())
        })
        .await;
        facts
    }

    async fn rows_say(&self, status: &str, attempt: u64) {
        let rows = Rows::of(&self.installation).await;
        road::one_of_each(&rows, &self.workspace.tenant, &self.call, status, attempt).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_cut_off_from_the_journal_is_fenced_and_its_call_runs_again() {
    runs_again(Trouble::Silence).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_stood_still_is_fenced_and_its_call_runs_again() {
    runs_again(Trouble::Frozen).await;
}

async fn runs_again(trouble: Trouble) {
    let mut scene = in_the_effect("deny", trouble).await;
    let facts = scene.ends_once().await;
    let ends = facts.iter().filter(|fact| fact["type"] == "tool_call.completed");
    assert_eq!(ends.count(), 1, "the older attempt is refused");
    scene.rows_say("completed", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_cut_off_from_the_journal_leaves_a_call_in_doubt_that_may_not_run_twice() {
    in_doubt(Trouble::Silence).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_stood_still_leaves_a_call_in_doubt_or_settles_it_late() {
    in_doubt(Trouble::Frozen).await;
}

async fn in_doubt(trouble: Trouble) {
    let mut scene = in_the_effect("allow", trouble).await;
    let facts = scene.ends_once().await;
    let of_call = |kind: &str| facts.iter().filter(|fact| fact["type"] == kind).count();
    assert_eq!((of_call("tool_call.started"), of_call("tool_call.in_doubt")), (1, 1), "it ran once");
    // A late result of the attempt that was really running settles it.
    let settled = of_call("tool_call.completed") == 1;
    scene.rows_say(if settled { "completed" } else { "in_doubt" }, 1).await;
}
