//! A runner that cannot be heard, or stands still, loses its turns to another one, and does no harm when it wakes.

use oxagen_tests::{Http, Process, Rows, until, word};
use serde_json::Value;

use crate::road;
use crate::scene::Scene;

/// What keeps the first runner from being heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// Its line to the journal.
    Silence,
    /// It gets no time to run.
    Frozen,
}

/// The first runner is in the effect when it happens; the second one comes then.
async fn lost(network: &str, trouble: Trouble) -> (Scene, Process) {
    let scene = Scene::in_the_effect(network).await;
    match trouble {
        Trouble::Silence => scene.door.stall(),
        Trouble::Frozen => scene.runner.signal("STOP"),
    }
    let second = scene.installation.start(&["runner"]).await;
    (scene, second)
}

impl Scene {
    async fn ends_once(&mut self) -> Vec<Value> {
        self.completed().await;
        // The first one wakes, and may say whatever it has to say.
        self.door.open();
        self.runner.signal("CONT");
        let http = Http::open(&self.runner.url);
        until("the first runner being ready again", async || {
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
        self.no_container(None).await;
        facts
    }

    async fn rows_say(&self, status: &str, attempt: u64) {
        let rows = Rows::of(&self.installation).await;
        road::one_of_each(&rows, &self.workspace.tenant, self.call(), status, attempt).await;
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
    let (mut scene, _second) = lost("deny", trouble).await;
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
    let (mut scene, _second) = lost("allow", trouble).await;
    let facts = scene.ends_once().await;
    let of_call = |kind: &str| facts.iter().filter(|fact| fact["type"] == kind).count();
    assert_eq!((of_call("tool_call.started"), of_call("tool_call.in_doubt")), (1, 1), "it ran once");
    // A late result of the attempt that was really running settles it.
    let settled = of_call("tool_call.completed") == 1;
    scene.rows_say(if settled { "completed" } else { "in_doubt" }, 1).await;
}
