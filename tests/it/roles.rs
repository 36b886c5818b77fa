//! Every role as processes of its own, two of each: the same rows. A role that was stopped catches up.

use oxagen_tests::{Installation, Process, ROLES, Rows, word};
use serde_json::Value;

use crate::road;

struct Town {
    processes: Vec<(&'static str, [Process; 2])>,
    // Dropped last: it clears away what the processes leave.
    installation: Installation,
}

impl Town {
    async fn new() -> Self {
        let installation = Installation::new().await;
        let mut processes = Vec::new();
        for role in ROLES {
            processes.push((*role, [installation.start(&[role]).await, installation.start(&[role]).await]));
        }
        Self { processes, installation }
    }

    fn of(&mut self, role: &str) -> &mut [Process; 2] {
        &mut self.processes.iter_mut().find(|(name, _)| *name == role).unwrap().1
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_of_each_role_as_processes_give_the_same_rows_and_catch_up() {
    let mut town = Town::new().await;
    let gateways = [0, 1].map(|nth| town.processes[0].1[nth].url.clone());
    let rows = Rows::of(&town.installation).await;
    let workspace = town.installation.workspace(&gateways[0]).await;

    let word = word("town");
    town.installation.model.add_scenarios(vec![road::computes(&word)]);
    let walked = road::walk(&workspace, &word).await;
    road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;

    // The other gateway shows the same history.
    let mut elsewhere = workspace.at(&gateways[1]).events(&walked.turn.conversation).await;
    elsewhere.rest().await;
    assert_eq!(elsewhere.ids(), walked.events.ids());

    for role in ["projector-postgres", "projector-clickhouse", "projector-neo4j"] {
        town.of(role).iter_mut().for_each(Process::kill);
        let walked = road::walk(&workspace, &word).await;
        *town.of(role) = [town.installation.start(&[role]).await, town.installation.start(&[role]).await];
        road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;
    }

    // Without a relay nothing is published, without a runner nothing runs, without a reactor no answer is passed on.
    for role in ["relay", "runner"] {
        town.of(role).iter_mut().for_each(Process::kill);
        let turn = workspace.say(&word).await;
        *town.of(role) = [town.installation.start(&[role]).await, town.installation.start(&[role]).await];
        let mut events = workspace.events(&turn.conversation).await;
        let asked = events.until("approval-required").await.data;
        events.until("turn-paused").await;
        finish(&rows, &workspace, events, &asked).await;
    }
    let (_, events, asked) = road::ask(&workspace, &word).await;
    town.of("reactor").iter_mut().for_each(Process::kill);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    *town.of("reactor") =
        [town.installation.start(&["reactor"]).await, town.installation.start(&["reactor"]).await];
    await_end(&rows, &workspace, events, &asked).await;

    gapless(&rows).await;
}

async fn finish(
    rows: &Rows,
    workspace: &oxagen_tests::Workspace,
    events: oxagen_tests::EventStream,
    asked: &Value,
) {
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    await_end(rows, workspace, events, asked).await;
}

async fn await_end(
    rows: &Rows,
    workspace: &oxagen_tests::Workspace,
    mut events: oxagen_tests::EventStream,
    asked: &Value,
) {
    assert_eq!(events.turn_end().await.name, "turn-completed");
    road::one_of_each(rows, &workspace.tenant, asked["callId"].as_str().unwrap(), "completed", 1).await;
}

/// `seq` is 1, 2, 3 … without a gap, whoever was killed.
async fn gapless(rows: &Rows) {
    let counted = rows
        .postgres("select count(*) as count, min(seq) as first, max(seq) as last from journal.sequence")
        .await;
    assert_eq!(counted[0]["count"], counted[0]["last"], "{counted:?}");
    assert_eq!(counted[0]["first"], 1, "{counted:?}");
}
