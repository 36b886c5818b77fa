//! The analytic rows: a repeat counts once, whatever the edges of its batch.

use oxagen_projections::{Batch, Store};

use crate::story::Story;
use crate::world::{World, clickhouse_client, take};

pub(crate) async fn count(world: &World, what: &str) -> u64 {
    let client = clickhouse_client().with_database(&world.name);
    client.query(&format!("select count() from {what}")).fetch_one().await.unwrap()
}

#[tokio::test]
async fn a_repeat_counts_once() {
    let world = World::new().await;
    let mut story = Story::new();
    story.turn();
    story.direct_call();
    story.doubtful_call();
    let facts = world.commit(&mut story).await;
    let store = world.clickhouse().await;
    let to = facts.last().unwrap().seq;

    take(&store, &facts).await;
    // The rows went in and the cursor did not move: other batch edges the next time.
    for chunk in facts.chunks(5) {
        store.apply(Batch { from: to, facts: chunk, to }).await.unwrap();
    }
    store.apply(Batch { from: to, facts: &facts, to }).await.unwrap();

    assert!(count(&world, "events").await >= facts.len() as u64);
    assert_eq!(count(&world, "events_final").await, facts.len() as u64);
    assert_eq!(count(&world, "tool_invocations_final").await, 3);
    assert_eq!(count(&world, "tool_invocations_final where status = 'completed'").await, 3);
    assert_eq!(count(&world, "token_usage_final").await, 2);
    assert_eq!(count(&world, "token_usage_final where input_tokens = 10").await, 2);
    assert_eq!(count(&world, "events_final where event_type = 'approval.requested'").await, 1);
    assert_eq!(count(&world, "events_final where position(payload, '00000000000000000000') > 0").await, 0);
    world.end().await;
}
