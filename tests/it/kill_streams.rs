//! What the stream can do to those who live by it: large facts, lost consumers, a full stream.

use async_nats::jetstream;
use oxagen_scripted_model::Reply;
use oxagen_tests::{Installation, ROLES, Rows, scenario, until, word};
use serde_json::json;

use crate::road;

#[tokio::test(flavor = "multi_thread")]
async fn f39_large_facts_lost_consumers_and_a_full_stream_lose_nothing() {
    let installation = Installation::new().await;
    let process = installation.start(ROLES).await;
    let (word, long) = (word("streams"), word("long"));
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let workspace = installation.workspace(&process.url).await;
    let rows = Rows::of(&installation).await;

    // With the rest of its fact it is over NATS's limit of a megabyte; the view and the screen have it whole.
    let said = "long ".repeat(209_600);
    let talk = Reply { chunk_size: 20_000, ..Reply::text(&said) };
    installation.model.add_scenarios(vec![scenario(&long, vec![talk])]);
    let turn = workspace.say(&long).await;
    let mut events = workspace.events(&turn.conversation).await;
    let end = events.turn_end().await;
    assert_eq!(end.name, "turn-completed", "{}", end.data);
    assert!(events.named("step-completed")[0].data["text"] == said, "the screen has the text whole");
    let view = workspace.settled(&turn, "completed").await;
    assert!(view.to_string().contains(&said), "the view has the text whole");
    let sql =
        format!("select count() as rows from events_final where conversation_id = '{}'", turn.conversation);
    let facts = workspace.facts(&turn.conversation).await.len();
    until("its facts in ClickHouse", async || {
        (rows.clickhouse(&sql).await[0]["rows"] == facts).then_some(())
    })
    .await;

    // The shared consumers go while nobody needs them.
    let server = installation.servers.nats_url.split(',').next().unwrap();
    let context = jetstream::new(async_nats::connect(server).await.unwrap());
    let mut stream = context.get_stream(format!("{}_FACTS", installation.name)).await.unwrap();
    for consumer in ["runner", "reactor"] {
        let name = format!("{}_{consumer}", installation.name);
        let gone = match stream.delete_consumer(&name).await {
            Ok(gone) => gone,
            Err(_) => stream.delete_consumer(consumer).await.unwrap(),
        };
        assert!(gone.success);
    }
    let walked = road::walk(&workspace, &word).await;
    road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;

    // The stream takes nothing more; commands go on, and are told of when there is room again.
    let mut config = stream.info().await.unwrap().config.clone();
    let room = config.max_bytes;
    let held = stream.info().await.unwrap().state.bytes;
    config.max_bytes = i64::try_from(held).unwrap();
    config.discard = jetstream::stream::DiscardPolicy::New;
    context.update_stream(&config).await.unwrap();
    let turn = workspace.say(&word).await;
    until("facts that have numbers and no room", async || {
        let head =
            rows.postgres("select max(seq) as last from journal.sequence").await[0]["last"].as_u64()?;
        (stream.info().await.unwrap().state.last_sequence < head).then_some(())
    })
    .await;
    config.max_bytes = room;
    context.update_stream(&config).await.unwrap();
    let mut events = workspace.events(&turn.conversation).await;
    let asked = events.until("approval-required").await.data;
    events.until("turn-paused").await;
    workspace
        .resolve(asked["approvalId"].as_str().unwrap(), &json!({"decision": "approve"}))
        .await
        .expect(200);
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let counted = rows
        .postgres("select count(*) as count, min(seq) as first, max(seq) as last from journal.sequence")
        .await;
    assert_eq!(counted[0]["count"], counted[0]["last"], "{counted:?}");
}
