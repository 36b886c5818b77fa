//! The relay between a real Postgres and a real NATS, whose addresses are in `DATABASE_URL`,
//! `DATABASE_ADMIN_URL` and `NATS_URL`.

#![allow(clippy::unwrap_used, clippy::panic)]

mod road;

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream;
use oxagen_jetstream::follow::{self, Delivery};
use oxagen_jetstream::topology::Settings;
use oxagen_journal::Sequencer;
use oxagen_relay::{Handle, Relay, RelayOptions};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::road::Road;

/// Generous: it only keeps a broken test from hanging.
const PATIENCE: Duration = Duration::from_secs(120);

struct Running {
    handle: Handle,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start(road: &Road) -> Self {
        let options = RelayOptions {
            journal: road.journal.clone(),
            bus: road.bus.clone(),
            streams: Settings::default(),
        };
        let relay = Relay::new(options);
        let (handle, shutdown) = (relay.handle(), CancellationToken::new());
        let task = tokio::spawn(relay.run(shutdown.clone()));
        Self { handle, shutdown, task }
    }

    async fn published(&mut self, last: u64) {
        let done = self.handle.wait_for(|status| status.published == last && status.lag() == 0);
        timeout(PATIENCE, done).await.unwrap().unwrap();
    }

    async fn leads(&mut self) {
        timeout(PATIENCE, self.handle.wait_for(|status| status.leading)).await.unwrap().unwrap();
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap();
    }
}

/// The stream's facts after `after`, up to `last`.
async fn on_stream(road: &Road, after: u64, last: u64) -> Vec<u64> {
    let mut follow = follow::facts(&road.bus, "test", after, &[]);
    let mut seqs = Vec::new();
    while follow.cursor() < last {
        match timeout(PATIENCE, follow.next_batch()).await.unwrap() {
            Delivery::Facts(facts) => seqs.extend(facts.iter().map(|fact| fact.seq)),
            Delivery::Jump { after, next } => panic!("a jump from {after} to {next}"),
        }
    }
    seqs
}

fn all(first: u64, last: u64) -> Vec<u64> {
    (first..=last).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_arrives_at_its_number() {
    let road = Road::new().await;
    let mut relay = Running::start(&road);
    road.append(1, 40).await;
    relay.published(40).await;
    road.append(41, 3000).await;
    relay.published(3000).await;
    assert_eq!(on_stream(&road, 0, 3000).await, all(1, 3000));
    relay.stop().await;
    road.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ring_wakes_the_relay() {
    let road = Road::new().await;
    let mut relay = Running::start(&road);
    relay.leads().await;
    let bus = road.bus.clone();
    let rung = road.journal.clone().with_doorbell(Arc::new(road::Bell(bus)));
    road::append(&rung, 1, 1).await;
    relay.published(1).await;
    relay.stop().await;
    road.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_leads_and_the_other_goes_on_after_it() {
    let road = Road::new().await;
    let mut first = Running::start(&road);
    first.leads().await;
    let mut second = Running::start(&road);
    road.append(1, 100).await;
    first.published(100).await;
    assert!(!second.handle.status().leading);
    assert!(Sequencer::lead(&road.journal).await.unwrap().is_none());
    first.stop().await;
    road.append(101, 200).await;
    second.leads().await;
    second.published(200).await;
    assert_eq!(on_stream(&road, 0, 200).await, all(1, 200));
    second.stop().await;
    road.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_leader_is_followed_by_itself() {
    let road = Road::new().await;
    let mut relay = Running::start(&road);
    road.append(1, 10).await;
    relay.published(10).await;
    road.kill_sessions().await;
    road.append(11, 20).await;
    relay.published(20).await;
    assert_eq!(on_stream(&road, 0, 20).await, all(1, 20));
    relay.stop().await;
    road.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_stream_is_filled_again_with_the_same_numbers() {
    let road = Road::new().await;
    let mut relay = Running::start(&road);
    road.append(1, 500).await;
    relay.published(500).await;
    let context = jetstream::new(road.nats().await);
    context.delete_stream(road.stream()).await.unwrap();
    // Whether the relay finds out by itself or by the next fact: its trouble may be over before anybody sees it.
    road.append(501, 510).await;
    relay.published(510).await;
    assert_eq!(on_stream(&road, 0, 510).await, all(1, 510));
    let over = relay.handle.wait_for(|status| status.trouble.is_empty());
    timeout(PATIENCE, over).await.unwrap().unwrap();
    relay.stop().await;
    road.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_another_history_is_made_again() {
    let road = Road::new().await;
    let mut relay = Running::start(&road);
    road.append(1, 50).await;
    relay.published(50).await;
    relay.stop().await;
    road.forget_after(30).await;
    let mut relay = Running::start(&road);
    relay.published(30).await;
    road.append(31, 60).await;
    relay.published(60).await;
    assert_eq!(on_stream(&road, 0, 60).await, all(1, 60));
    relay.stop().await;
    road.close().await;
}
