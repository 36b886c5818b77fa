use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oxagen_domain::Fact;
use oxagen_jetstream::Bus;
use oxagen_jetstream::consume::{self, Lag, Work};
use oxagen_jetstream::envelope::Unread;
use oxagen_jetstream::topology::{FACTS, REACTOR, RUNNER};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::world::{World, fact, soon};

async fn settled(world: &World, expected: Lag) {
    let looks = async {
        while consume::lag(&world.bus, &RUNNER).await.unwrap() != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(looks).await;
}

/// The next message, which must carry the fact with this `seq`; one before it comes again when its acknowledgement was
/// late.
async fn take(work: &mut Work, seq: u64) -> consume::Job {
    loop {
        let job = soon(work.next(1)).await.unwrap();
        if job.fact.seq == seq {
            return job;
        }
        assert!(job.fact.seq < seq && job.delivered > 1, "{} comes before {seq}", job.fact.seq);
        job.ack().await.unwrap();
    }
}

/// The longest time in which this process or the server did nothing.
struct Standstill(Arc<Mutex<Duration>>, JoinHandle<()>);

impl Standstill {
    fn watch(bus: &Bus) -> Self {
        let (longest, bus) = (Arc::new(Mutex::new(Duration::ZERO)), bus.clone());
        let told = Arc::clone(&longest);
        let watching = tokio::spawn(async move {
            loop {
                let since = Instant::now();
                let _ = bus.ping().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                let mut longest = told.lock().unwrap();
                *longest = since.elapsed().max(*longest);
            }
        });
        Self(longest, watching)
    }

    fn longest(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}

impl Drop for Standstill {
    fn drop(&mut self) {
        self.1.abort();
    }
}

#[tokio::test]
async fn an_unanswered_message_comes_again_and_an_acknowledged_one_does_not() {
    let world = World::new().await;
    world.publish(&["turn.started", "approval.asked", "turn.resumed"]).await;
    let mut work = consume::work(&world.bus, &RUNNER);
    take(&mut work, 1).await.ack().await.unwrap();
    let first = take(&mut work, 3).await.delivered;
    let again = take(&mut work, 3).await;
    assert!(again.delivered > first);
    again.nak(Duration::from_millis(10)).await.unwrap();
    let third = take(&mut work, 3).await;
    assert!(third.delivered > again.delivered);
    third.ack().await.unwrap();
    settled(&world, Lag { floor: 3, under_way: 0, waiting: 0 }).await;
    world.end().await;
}

#[tokio::test]
async fn field_f32_a_message_under_work_is_given_to_nobody_else() {
    let world = World::new().await;
    let (mut one, mut other) = (consume::work(&world.bus, &RUNNER), consume::work(&world.bus, &RUNNER));
    world.publish(&["turn.started"]).await;
    let standstill = Standstill::watch(&world.bus);
    let long = take(&mut one, 1).await;
    // Who stands still cannot say that it is at work.
    let mut second = async || {
        loop {
            let job = soon(other.next(1)).await.unwrap();
            if job.fact.seq == 2 {
                return job;
            }
            assert!(
                standstill.longest() > Duration::from_secs(1),
                "a message under work went to somebody else"
            );
        }
    };
    long.while_working(async {
        world.publish(&["turn.started"]).await;
        // Longer than `ack_wait`: the second message is left alone until it comes again. The first one, delivered
        // earlier, would have come again before it.
        let first = second().await.delivered;
        let again = second().await;
        assert!(again.delivered > first);
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
        let job = soon(work.next(1)).await.unwrap();
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
    let unreadable = soon(work.next(1)).await.unwrap_err();
    assert!(matches!(unreadable.cause, Unread::InJournal), "{unreadable}");
    assert_eq!(unreadable.seq, 1);
    let job = unreadable.into_job(large.clone());
    assert_eq!(job.fact, large);
    job.ack().await.unwrap();

    let unreadable = soon(work.next(1)).await.unwrap_err();
    assert!(matches!(unreadable.cause, Unread::NotAFact(_)), "{unreadable}");
    assert_eq!(unreadable.seq, 2);
    unreadable.ack().await.unwrap();
    world.end().await;
}
