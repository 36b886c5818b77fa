use std::time::Duration;

use oxagen_domain::Fact;
use oxagen_jetstream::consume::{self, Lag, Work};
use oxagen_jetstream::envelope::Unread;
use oxagen_jetstream::topology::{FACTS, REACTOR, RUNNER};
use serde_json::json;

use crate::world::{World, fact, soon};

async fn settled(world: &World, expected: Lag) {
    let looks = async {
        while consume::lag(&world.bus, &RUNNER).await.unwrap() != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(looks).await;
}

/// The next message, which must carry the fact with this `seq`.
async fn take(work: &mut Work, seq: u64) -> consume::Job {
    let job = soon(work.next()).await.unwrap();
    assert_eq!(job.fact.seq, seq);
    job
}

#[tokio::test]
async fn an_unanswered_message_comes_again_and_an_acknowledged_one_does_not() {
    let world = World::new().await;
    world.publish(&["turn.started", "approval.asked", "turn.resumed"]).await;
    let mut work = consume::work(&world.bus, &RUNNER);
    let first = take(&mut work, 1).await;
    assert_eq!(first.delivered, 1);
    first.ack().await.unwrap();
    drop(take(&mut work, 3).await);
    let again = take(&mut work, 3).await;
    assert_eq!(again.delivered, 2);
    again.nak(Duration::from_millis(10)).await.unwrap();
    let third = take(&mut work, 3).await;
    assert_eq!(third.delivered, 3);
    third.ack().await.unwrap();
    settled(&world, Lag { floor: 3, under_way: 0, waiting: 0 }).await;
    world.end().await;
}

#[tokio::test]
async fn field_f32_a_message_under_work_is_given_to_nobody_else() {
    let world = World::new().await;
    let (mut one, mut other) = (consume::work(&world.bus, &RUNNER), consume::work(&world.bus, &RUNNER));
    world.publish(&["turn.started"]).await;
    let long = take(&mut one, 1).await;
    long.while_working(async {
        world.publish(&["turn.started"]).await;
        // Longer than `ack_wait`: the second message is left alone until it comes again. The first one, delivered
        // earlier, would have come again before it.
        drop(take(&mut other, 2).await);
        let again = take(&mut other, 2).await;
        assert_eq!(again.delivered, 2);
        again.ack().await.unwrap();
    })
    .await;
    long.ack().await.unwrap();
    settled(&world, Lag { floor: 2, under_way: 0, waiting: 0 }).await;
    world.end().await;
}

#[tokio::test]
async fn field_f39_a_deleted_durable_consumer_is_made_again() {
    let world = World::new().await;
    world.publish(&["turn.started"]).await;
    let mut work = consume::work(&world.bus, &RUNNER);
    take(&mut work, 1).await.ack().await.unwrap();
    settled(&world, Lag { floor: 1, under_way: 0, waiting: 0 }).await;

    world.stream(&FACTS).await.delete_consumer(RUNNER.name).await.unwrap();
    world.publish(&["turn.resumed"]).await;
    // The first one may come again; the second one must come.
    loop {
        let job = soon(work.next()).await.unwrap();
        job.ack().await.unwrap();
        if job.fact.seq == 2 {
            break;
        }
    }
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_handed_over_with_its_place() {
    let world = World::new().await;
    let large = Fact { payload: json!({"text": "x".repeat(3 << 20)}), ..fact(1, "approval.requested") };
    world.publisher.publish(std::slice::from_ref(&large)).await.unwrap();
    let subject = format!("{}fact.a.b.approval.requested", world.bus.prefix());
    world.raw().publish(subject, "not a fact".into()).await.unwrap().await.unwrap();

    let mut work = consume::work(&world.bus, &REACTOR);
    let unreadable = soon(work.next()).await.unwrap_err();
    assert!(matches!(unreadable.cause, Unread::InJournal), "{unreadable}");
    assert_eq!(unreadable.seq, 1);
    let job = unreadable.into_job(large.clone());
    assert_eq!(job.fact, large);
    job.ack().await.unwrap();

    let unreadable = soon(work.next()).await.unwrap_err();
    assert!(matches!(unreadable.cause, Unread::NotAFact(_)), "{unreadable}");
    assert_eq!(unreadable.seq, 2);
    unreadable.ack().await.unwrap();
    world.end().await;
}
