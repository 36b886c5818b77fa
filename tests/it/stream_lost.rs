//! The streams vanish: the relay makes them again, and what was in them is read from the journal.

use oxagen_tests::{Installation, ROLES, Rows, until, word};

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_were_lost_are_made_again_and_nothing_is_missing() {
    let installation = Installation::new().await;
    let process = installation.start(ROLES).await;
    let workspace = installation.workspace(&process.url).await;
    let rows = Rows::of(&installation).await;
    let word = word("lost");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let before = road::walk(&workspace, &word).await;

    let nats = async_nats::connect(&installation.servers.nats_url).await.unwrap();
    let streams = async_nats::jetstream::new(nats);
    for stream in ["FACTS", "LIVE"] {
        streams.delete_stream(format!("{}_{stream}", installation.name)).await.unwrap();
    }

    let after = road::walk(&workspace, &word).await;
    for walked in [&before, &after] {
        road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;
        let mut again = workspace.events(&walked.turn.conversation).await;
        again.rest().await;
        assert_eq!(again.ids(), walked.events.ids());
    }
    // The stream's own sequence is still the place in history.
    let stream = streams.get_stream(format!("{}_FACTS", installation.name)).await.unwrap();
    until("the stream ending where history does", async || {
        let head = rows.postgres("select max(seq) as head from journal.sequence").await[0]["head"].clone();
        (stream.get_info().await.unwrap().state.last_sequence == head).then_some(())
    })
    .await;
}
