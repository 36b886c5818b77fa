use bytes::Bytes;
use futures::TryStreamExt;
use oxagen_domain::Fact;
use oxagen_jetstream::follow::{self, Delivery};
use oxagen_jetstream::topology::{DURABLES, FACTS};
use serde_json::json;

use crate::world::{World, fact, read, soon};

#[tokio::test]
async fn a_reader_goes_on_after_its_cursor_and_knows_its_lag() {
    let world = World::new().await;
    world.publish(&["turn.started"; 1200]).await;
    let mut follow = follow::facts(&world.bus, "reader", 700, &[]);
    assert_eq!(read(&mut follow, 500).await, (701..=1200).collect::<Vec<_>>());
    assert_eq!((follow.cursor(), follow.behind()), (1200, 0));
    world.publish(&["turn.completed"]).await;
    assert_eq!(read(&mut follow, 1).await, [1201]);
    world.end().await;
}

#[tokio::test]
async fn a_filter_passes_its_facts_alone() {
    let world = World::new().await;
    world.publish(&["turn.started", "tool_call.requested", "approval.asked", "turn.completed"]).await;
    let mut follow = follow::facts(&world.bus, "reader", 0, &["fact.*.*.turn.*", "fact.*.*.approval.*"]);
    assert_eq!(read(&mut follow, 3).await, [1, 3, 4]);
    world.end().await;
}

#[tokio::test]
async fn a_deleted_reader_comes_back_by_itself() {
    let world = World::new().await;
    world.publish(&["turn.started"; 3]).await;
    let mut follow = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut follow, 3).await, [1, 2, 3]);

    let stream = world.stream(&FACTS).await;
    let names: Vec<String> = stream.consumer_names().try_collect().await.unwrap();
    for name in names.iter().filter(|name| DURABLES.iter().all(|durable| durable.name != *name)) {
        stream.delete_consumer(name).await.unwrap();
    }
    world.publish(&["turn.completed"; 2]).await;
    assert_eq!(read(&mut follow, 2).await, [4, 5]);
    world.end().await;
}

#[tokio::test]
async fn field_f39_a_fact_too_large_for_a_message_is_announced_and_read_from_the_journal() {
    let world = World::new().await;
    let large = Fact { payload: json!({"text": "x".repeat(3 << 20)}), ..fact(2, "turn.completed") };
    world.publisher.publish(&[fact(1, "turn.started"), large, fact(3, "turn.started")]).await.unwrap();
    let mut follow = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut follow, 1).await, [1]);
    assert_eq!(soon(follow.next_batch()).await, Delivery::Jump { after: 1, next: 3 });
    // Asked again before the journal was read, it says the same again.
    assert_eq!(soon(follow.next_batch()).await, Delivery::Jump { after: 1, next: 3 });
    follow.seek(2);
    assert_eq!(read(&mut follow, 1).await, [3]);
    world.end().await;
}

#[tokio::test]
async fn somebody_elses_message_is_no_fact_and_stops_nobody() {
    let world = World::new().await;
    world.publish(&["turn.started"]).await;
    let subject = format!("{}fact.a.b.turn.started", world.bus.prefix());
    world.raw().publish(subject, Bytes::from_static(b"{}")).await.unwrap().await.unwrap();
    world.publish(&["turn.completed"]).await;
    let mut follow = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut follow, 1).await, [1]);
    assert_eq!(soon(follow.next_batch()).await, Delivery::Jump { after: 1, next: 3 });
    follow.seek(2);
    assert_eq!(read(&mut follow, 1).await, [3]);
    world.end().await;
}

#[tokio::test]
async fn facts_missing_inside_the_stream_are_noticed() {
    let world = World::new().await;
    world.publish(&["turn.started"; 4]).await;
    world.stream(&FACTS).await.delete_message(3).await.unwrap();
    let mut follow = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut follow, 2).await, [1, 2]);
    assert_eq!(soon(follow.next_batch()).await, Delivery::Jump { after: 2, next: 4 });
    follow.seek(3);
    assert_eq!(read(&mut follow, 1).await, [4]);
    world.end().await;
}
