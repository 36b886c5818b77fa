//! NATS is gone for a while during a call: the living runner finishes it, nothing is taken over.

use std::time::Duration;

use oxagen_tests::{Containers, Installation, Proxy, ROLES, Rows, reply, scenario, until, waiting, word};

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn nats_down_for_five_seconds_in_a_call_changes_nothing() {
    let mut installation = Installation::new().await;
    let door = Proxy::to(&installation.servers.nats_url).await;
    installation.settings.insert("NATS_URL".to_owned(), door.url());
    let first = installation.start(ROLES).await;
    // A second runner that would take over, if anybody let it.
    let second = installation.start(&["runner"]).await;
    let word = word("nats");
    installation.model.add_scenarios(vec![scenario(
        &word,
        vec![
            reply("I will run it.", vec![waiting()]),
            reply("It is {{lastToolResult.stdout.lastLine}}.", vec![]),
        ],
    )]);
    let workspace = installation.workspace(&first.url).await;
    let (turn, mut events, asked) = road::ask(&workspace, &word).await;
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    events.until("tool-call-output").await;
    door.shut();
    // The outage itself, not a wait for something.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (containers, call) =
        (Containers::at(&installation.servers.docker_host), asked["callId"].as_str().unwrap());
    until("the call's program to let go", async || containers.let_go(call).await.then_some(())).await;
    door.open();

    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    events.rest().await;
    let facts = workspace.facts(&turn.conversation).await;
    let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    assert_eq!(events.ids(), seqs, "the viewer missed nothing and saw nothing twice");
    let kinds = workspace.kinds(&turn.conversation).await;
    assert!(!kinds.contains(&"turn.taken_over".to_owned()), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_call.started").count(), 1, "{kinds:?}");
    let rows = Rows::of(&installation).await;
    let row = road::one_of_each(&rows, &workspace.tenant, call, "completed", 1).await;
    assert_eq!(row["output"]["stdout"], "begun\ndone\n");
    drop(second);
}
