use oxagen_jetstream::doorbell;
use oxagen_jetstream::follow::{self, Delivery};
use oxagen_jetstream::publish::{PublishError, Publisher};
use oxagen_jetstream::topology::{self, FACTS, GIVEN_AGAIN, Settings, stream_name};

use crate::world::{World, fact, read, soon};

#[tokio::test]
async fn stream_sequence_is_seq_and_nothing_is_there_twice() {
    let world = World::new().await;
    let facts: Vec<_> = (1..=2500).map(|seq| fact(seq, "tool_call.completed")).collect();
    world.publisher.publish(&facts).await.unwrap();
    let again = world.publisher.publish(&facts).await.unwrap_err();
    assert!(matches!(again, PublishError::Fenced { seq: 1, .. }), "{again}");
    assert_eq!(world.publisher.last_sequence().await.unwrap(), 2500);

    let message = world.stream(&FACTS).await.get_raw_message(2500).await.unwrap();
    assert!(message.subject.ends_with(".tool_call.completed"));
    assert_eq!(message.headers.get("Nats-Msg-Id").unwrap().as_str(), facts[2499].event_id.to_string());
    assert_eq!(message.headers.get("Oxagen-Seq").unwrap().as_str(), "2500");
    assert_eq!(serde_json::from_slice::<oxagen_domain::Fact>(&message.payload).unwrap(), facts[2499]);
    world.end().await;
}

#[tokio::test]
async fn a_second_publisher_is_fenced() {
    let world = World::new().await;
    let second = Publisher::new(&world.bus);
    assert_eq!(second.last_sequence().await.unwrap(), 0);
    world.publish(&["turn.started", "turn.completed"]).await;

    let late = second.publish(&[fact(1, "turn.started"), fact(2, "turn.failed")]).await.unwrap_err();
    assert!(matches!(late, PublishError::Fenced { seq: 1, .. }), "{late}");
    let early = second.publish(&[fact(4, "turn.started")]).await.unwrap_err();
    assert!(matches!(early, PublishError::Fenced { seq: 4, .. }), "{early}");
    assert_eq!(second.last_sequence().await.unwrap(), 2);
    second.publish(&[fact(3, "turn.started")]).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_lost_stream_is_made_again_near_the_head_and_readers_are_told() {
    let world = World::new().await;
    world.publish(&["turn.started"; 5]).await;
    let mut follow = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut follow, 5).await, [1, 2, 3, 4, 5]);

    world.raw().delete_stream(stream_name(&world.bus, &FACTS)).await.unwrap();
    let lost = world.publisher.publish(&[fact(6, "turn.started")]).await.unwrap_err();
    assert!(matches!(lost, PublishError::Lost(_)), "{lost}");
    assert!(matches!(world.publisher.last_sequence().await, Err(PublishError::Lost(_))));

    topology::apply(&world.bus, GIVEN_AGAIN + 20, Settings::default()).await.unwrap();
    assert_eq!(world.publisher.last_sequence().await.unwrap(), 20);
    world.publish(&["turn.completed"; 2]).await;
    assert_eq!(soon(follow.next_batch()).await, Delivery::Jump { after: 5, next: 21 });
    follow.seek(20);
    assert_eq!(read(&mut follow, 2).await, [21, 22]);
    world.end().await;
}

#[tokio::test]
async fn a_type_that_is_no_subject_is_refused() {
    let world = World::new().await;
    let refused = world.publisher.publish(&[fact(1, "turn.>")]).await.unwrap_err();
    assert!(matches!(refused, PublishError::Refused { seq: 1, .. }), "{refused}");
    world.end().await;
}

#[tokio::test]
async fn the_doorbell_is_heard() {
    let world = World::new().await;
    let mut bell = doorbell::listen(&world.bus).await.unwrap();
    for _ in 0..3 {
        doorbell::ring(&world.bus);
    }
    soon(bell.rung()).await;
    doorbell::ring(&world.bus);
    soon(bell.rung()).await;
    world.end().await;
}
