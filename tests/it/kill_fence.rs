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
        Trouble::Frozen => {
            scene.runner.signal("STOP");
            if network == "allow" {
                // It ends while its runner sleeps.
                scene.let_go().await;
            }
        }
    }
    let second = scene.installation.start(&["runner"]).await;
    (scene, second)
}

impl Scene {
    /// The turn ends while the first runner cannot be heard; then it can. Gives the facts.
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
    scene.second_attempt().await;
    let facts = scene.ends_once().await;
    let ends = facts.iter().filter(|fact| fact["type"] == "tool_call.completed");
    assert_eq!(ends.count(), 1, "the older attempt is refused");
    let rows = Rows::of(&scene.installation).await;
    road::one_of_each(&rows, &scene.workspace.tenant, scene.call(), "completed", 2).await;
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
    // A late result of the attempt that was really running settles it, as what it was; it may come at any time.
    let rows = Rows::of(&scene.installation).await;
    let status = until("every store saying how it stands", async || {
        let facts = scene.workspace.facts(&scene.turn.conversation).await;
        let status = road::last_of(&facts, scene.call());
        let told = road::told_of(&rows, &scene.workspace.tenant, scene.call()).await;
        let agree = told.len() == 3 && told.iter().all(|(told, attempt)| (told, *attempt) == (&status, 1));
        agree.then_some(status)
    })
    .await;
    assert!(["in_doubt", "completed", "failed"].contains(&&*status), "{status}");
}
