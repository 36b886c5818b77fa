//! Keeps the hub fed, through every failure of the servers.

use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use oxagen_domain::{ApiKeyId, Fact};
use oxagen_jetstream::follow::Delivery;
use oxagen_jetstream::{Bus, follow, live};
use oxagen_journal::Journal;
use tokio::time::sleep;
use tracing::warn;

use super::Hub;
use crate::keys::KnownKeys;

/// The pause before something is tried again.
const PAUSE: Duration = Duration::from_millis(500);
/// Facts read from the journal at a time.
const PAGE: u32 = 500;

/// Follows the facts from the head on. Runs until it is dropped.
pub(crate) async fn follow_facts(hub: Hub, journal: Journal, bus: Bus, keys: &KnownKeys) {
    let head = loop {
        match journal.head().await {
            Ok(head) => break head,
            Err(error) => warn!(%error, "streams cannot begin before the journal answers"),
        }
        sleep(PAUSE).await;
    };
    let mut facts = follow::facts(&bus, "gateway", head, &[]);
    hub.begin(head);
    loop {
        match facts.next_batch().await {
            Delivery::Facts(batch) => pass_on(&hub, keys, batch),
            Delivery::Jump { after, next } => {
                let reached = catch_up(&hub, &journal, keys, after, next).await;
                facts.seek(reached);
            }
        }
    }
}

/// Reads from the journal what the stream does not have; gives the last fact read.
async fn catch_up(hub: &Hub, journal: &Journal, keys: &KnownKeys, mut after: u64, next: u64) -> u64 {
    while after + 1 < next {
        match journal.read(after, PAGE).await {
            Ok(page) if page.is_empty() => break,
            Ok(page) => {
                after = page.last().map_or(after, |fact| fact.seq);
                pass_on(hub, keys, page);
            }
            Err(error) => {
                warn!(%error, after, "facts that the stream no longer has cannot be read from the journal yet");
                sleep(PAUSE).await;
            }
        }
    }
    after
}

fn pass_on(hub: &Hub, keys: &KnownKeys, facts: Vec<Fact>) {
    let revoked = facts.iter().filter(|fact| fact.kind == "api_key.revoked");
    for key in revoked.filter_map(|fact| fact.aggregate_id.parse::<ApiKeyId>().ok()) {
        keys.forget(key);
    }
    hub.publish_facts(facts);
}

/// Follows live frames. Runs until it is dropped.
pub(crate) async fn follow_frames(hub: Hub, bus: Bus) {
    loop {
        match live::follow(&bus).await {
            Ok(frames) => {
                let mut frames = pin!(frames);
                while let Some((scope, frame)) = frames.next().await {
                    hub.publish_frame(scope, frame);
                }
            }
            Err(error) => warn!(%error, "live frames cannot be followed yet"),
        }
        sleep(PAUSE).await;
    }
}
