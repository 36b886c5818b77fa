//! What the stream can do to those who live by it: large facts, lost consumers, a full stream.

use async_nats::jetstream;
use async_nats::jetstream::stream::State;
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
        assert!(stream.delete_consumer(consumer).await.unwrap().success, "{consumer}");
    }
    let walked = road::walk(&workspace, &word).await;
    road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;

    // The stream takes nothing more. The relay, refused, makes it what the list says, and goes on.
    let listed = stream.info().await.unwrap().clone();
    let mut full = listed.config.clone();
    full.max_bytes = i64::try_from(listed.state.bytes).unwrap();
    full.discard = jetstream::stream::DiscardPolicy::New;
    context.update_stream(&full).await.unwrap();
    let walked = road::walk(&workspace, &word).await;
    road::one_of_each(&rows, &workspace.tenant, &walked.call, "completed", 1).await;
    let sql = "select count(*) as count, min(seq) as first, max(seq) as last from journal.sequence";
    let head = until("every fact on the stream", async || {
        let head = rows.postgres(sql).await[0].clone();
        (stream.info().await.unwrap().state.last_sequence == head["last"]).then_some(head)
    })
    .await;
    assert_eq!((&head["count"], &head["first"]), (&head["last"], &json!(1)), "numbers without a gap");
    let found = stream.info().await.unwrap();
    assert_eq!(
        (found.config.max_bytes, found.config.discard),
        (listed.config.max_bytes, listed.config.discard),
        "only after a refusal does the relay look at what the stream may hold"
    );
    let State { messages, first_sequence, last_sequence, .. } = found.state;
    assert_eq!(messages, last_sequence + 1 - first_sequence, "a hole in the stream");
}
