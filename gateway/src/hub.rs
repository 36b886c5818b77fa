//! One follower of facts and one of live frames for the whole process, fanned out in memory.
//!
//! Whoever watches gets a bounded queue of its own; who does not keep up is cut off and never makes others wait.
//! The facts of late are kept in a ring, so that a crowd of returning viewers does not meet the journal.

mod follow;
mod ring;
mod topic;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use oxagen_domain::{Fact, Scope};
use oxagen_jetstream::live::Frame;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

use crate::sse::encode;

pub(crate) use follow::{follow_facts, follow_frames};
use ring::Ring;
pub(crate) use topic::Topic;

/// What waits for one viewer at most.
const QUEUE: usize = 512;

/// A fact on its way to viewers; its event is written once for all of them.
pub(crate) struct Passing {
    pub(crate) fact: Fact,
    event: OnceLock<Bytes>,
}

impl Passing {
    pub(crate) fn new(fact: Fact) -> Arc<Self> {
        Arc::new(Self { fact, event: OnceLock::new() })
    }

    /// The fact as an SSE event.
    pub(crate) fn event(&self) -> Bytes {
        self.event.get_or_init(|| encode::fact(&self.fact)).clone()
    }
}

/// What a viewer gets.
pub(crate) enum Item {
    Fact(Arc<Passing>),
    Frame(Arc<Frame>),
}

/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub(crate) struct Hub {
    inner: Arc<Mutex<Inner>>,
    ready: Arc<watch::Sender<bool>>,
}

#[derive(Default)]
struct Inner {
    ring: Ring,
    watchers: HashMap<Topic, Vec<Watcher>>,
    next: u64,
}

struct Watcher {
    id: u64,
    queue: mpsc::Sender<Item>,
}

/// A viewer's place in the hub; dropping it leaves.
pub(crate) struct Subscription {
    hub: Hub,
    topic: Topic,
    id: u64,
    queue: mpsc::Receiver<Item>,
    /// The newest fact that went by before this began: what came later is in the queue.
    pub(crate) head: u64,
    /// The topic's facts after the asked place, if the ring goes back so far.
    pub(crate) recent: Option<Vec<Arc<Passing>>>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { inner: Arc::default(), ready: Arc::new(watch::Sender::new(false)) }
    }

    /// Whether facts are being followed.
    pub(crate) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until facts are being followed: before that nobody can tell what comes next.
    pub(crate) async fn ready(&self) {
        // The sender lives as long as `self`.
        let _ = self.ready.subscribe().wait_for(|ready| *ready).await;
    }

    /// The newest fact that went by.
    pub(crate) fn head(&self) -> u64 {
        self.lock().ring.head()
    }

    /// Watches a topic, and gives what the ring has of it after `after`.
    pub(crate) fn subscribe(&self, topic: Topic, after: u64) -> Subscription {
        let (sender, queue) = mpsc::channel(QUEUE);
        let mut inner = self.lock();
        inner.next += 1;
        let id = inner.next;
        inner.watchers.entry(topic).or_default().push(Watcher { id, queue: sender });
        let (head, recent) = (inner.ring.head(), inner.ring.after(after, topic));
        drop(inner);
        Subscription { hub: self.clone(), topic, id, queue, head, recent }
    }

    /// Facts are followed from here.
    fn begin(&self, head: u64) {
        self.lock().ring.begin(head);
        self.ready.send_replace(true);
    }

    fn publish_facts(&self, facts: Vec<Fact>) {
        let mut inner = self.lock();
        for fact in facts {
            let passing = Passing::new(fact);
            inner.ring.push(Arc::clone(&passing));
            for topic in Topic::of_fact(&passing.fact) {
                inner.send(topic, || Item::Fact(Arc::clone(&passing)));
            }
        }
    }

    fn publish_frame(&self, scope: Scope, frame: Frame) {
        let (topic, frame) = (Topic::Conversation(scope, frame.conversation_id), Arc::new(frame));
        self.lock().send(topic, || Item::Frame(Arc::clone(&frame)));
    }

    fn leave(&self, topic: Topic, id: u64) {
        self.lock().retain(topic, |watcher| watcher.id != id);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// A full queue cuts its viewer off: the queue ends for it after what is in there.
    fn send(&mut self, topic: Topic, item: impl Fn() -> Item) {
        self.retain(topic, |watcher| match watcher.queue.try_send(item()) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        });
    }

    fn retain(&mut self, topic: Topic, keep: impl FnMut(&mut Watcher) -> bool) {
        if let Some(watchers) = self.watchers.get_mut(&topic) {
            watchers.retain_mut(keep);
            if watchers.is_empty() {
                self.watchers.remove(&topic);
            }
        }
    }
}

impl Subscription {
    /// What comes next; none when this viewer was too slow and is cut off. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Option<Item> {
        self.queue.recv().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.leave(self.topic, self.id);
    }
}

#[cfg(test)]
mod tests;
