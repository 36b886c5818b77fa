use oxagen_jetstream::topology::{self, FACTS, GIVEN_AGAIN, Settings};
use oxagen_jetstream::{JetStreamError, NatsOptions, connect};

use crate::world::World;

#[tokio::test]
async fn the_list_may_be_applied_again_beside_another_process() {
    let world = World::new().await;
    let (one, other) = tokio::join!(
        topology::apply(&world.bus, 0, Settings::default()),
        topology::apply(&world.bus, 0, Settings::default()),
    );
    one.unwrap();
    other.unwrap();
    world.bus.ping().await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_stream_that_differs_in_something_fixed_is_refused_with_words() {
    let world = World::new().await;
    let memory = Settings { live_in_memory: true, ..Settings::default() };
    let error = topology::apply(&world.bus, 0, memory).await.unwrap_err();
    assert!(matches!(error, JetStreamError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("LIVE"), "{error}");
    world.end().await;
}

#[tokio::test]
async fn a_stream_ahead_of_the_journal_is_made_again_near_its_head() {
    let world = World::new().await;
    world.publish(&["turn.started", "turn.completed"]).await;
    topology::remake(&world.bus, GIVEN_AGAIN + 40, Settings::default()).await.unwrap();
    assert_eq!(world.publisher.last_sequence().await.unwrap(), 40);
    assert_eq!(world.stream(&FACTS).await.cached_info().state.messages, 0);
    world.end().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_password() {
    let urls = "nats://user:secret@127.0.0.1:1".to_owned();
    let error = connect(&NatsOptions { urls, ..NatsOptions::default() }).await.unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:1") && !error.contains("secret"), "{error}");
    let options = NatsOptions { prefix: "a.b".to_owned(), ..NatsOptions::default() };
    assert!(matches!(connect(&options).await, Err(JetStreamError::BadPrefix { .. })));
}
