//! Which streams and durable consumers there are. This file is the list; `apply` makes the server agree with it.

mod apply;

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

pub use apply::{apply, remake};
pub(crate) use apply::{find_or_make, make_reader, stream_info};

use crate::bus::Bus;

/// A stream made again begins this many facts before the journal's head, so that wake-ups that nobody has
/// answered yet are given again, and the new ones do not wait for long behind them. What is older is read from the journal.
pub const GIVEN_AGAIN: u64 = 2_000;

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its name, after the prefix.
    pub name: &'static str,
    /// What it keeps.
    pub description: &'static str,
    /// The subjects it takes, after the prefix.
    pub subjects: &'static str,
    /// The time after which a message is dropped.
    pub max_age: Duration,
    /// The time in which a message id is taken once only. A server reads this much again when it starts.
    pub duplicate_window: Duration,
}

/// Every fact, at the place that is its `seq`.
pub static FACTS: Stream = Stream {
    name: "FACTS",
    description: "Committed facts; stream sequence = seq",
    subjects: "fact.>",
    max_age: Duration::from_secs(7 * 24 * 60 * 60),
    duplicate_window: Duration::from_secs(2 * 60),
};

/// What screens show before it is a fact.
pub static LIVE: Stream = Stream {
    name: "LIVE",
    description: "Live frames by conversation",
    subjects: "live.>",
    max_age: Duration::from_secs(60 * 60),
    duplicate_window: Duration::from_secs(2 * 60),
};

/// A durable consumer of [`FACTS`] that several processes share.
#[derive(Debug)]
pub struct Durable {
    /// Its name.
    pub name: &'static str,
    /// Who it wakes.
    pub description: &'static str,
    /// Subjects that it delivers, after the prefix.
    pub filters: &'static [&'static str],
    /// A message that is neither acknowledged nor reported as in progress for this long is delivered again.
    pub ack_wait: Duration,
    /// Messages that may be under way at a time, over all processes.
    pub max_ack_pending: i64,
    /// Messages asked for at a time by one process at most; never more than it has hands for, so that a message does not
    /// wait behind another one's work.
    pub batch: usize,
}

/// Wakes the runners.
pub static RUNNER: Durable = Durable {
    name: "runner",
    description: "Wake-ups of turns",
    filters: &[
        "fact.*.*.turn.started",
        "fact.*.*.turn.resumed",
        "fact.*.*.turn.answered",
        "fact.*.*.turn.cancel_requested",
        "fact.*.*.tool_call.cleared",
        "fact.*.*.tool_call.settled",
    ],
    ack_wait: Duration::from_secs(3),
    max_ack_pending: 10_000,
    batch: 16,
};

/// Wakes the reactors.
pub static REACTOR: Durable = Durable {
    name: "reactor",
    description: "Facts that lead to commands",
    filters: &[
        "fact.*.*.approval.*",
        "fact.*.*.conversation.turn_closed",
        "fact.*.*.policy.set",
        "fact.*.*.plan.*",
    ],
    ack_wait: Duration::from_secs(3),
    max_ack_pending: 10_000,
    batch: 16,
};

/// Every stream.
pub static STREAMS: &[&Stream] = &[&FACTS, &LIVE];
/// Every durable consumer.
pub static DURABLES: &[&Durable] = &[&RUNNER, &REACTOR];

/// What an installation may choose.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Copies of each stream: 1 on a single server, 3 on a cluster.
    pub replicas: usize,
    /// Whether live frames are kept in memory instead of in files.
    pub live_in_memory: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { replicas: 1, live_in_memory: false }
    }
}

/// A stream's name on the server.
pub fn stream_name(bus: &Bus, stream: &Stream) -> String {
    format!("{}{}", bus.prefix(), stream.name)
}

impl Stream {
    fn config(&self, prefix: &str, settings: Settings) -> Config {
        let in_memory = settings.live_in_memory && self.name == LIVE.name;
        Config {
            name: format!("{prefix}{}", self.name),
            description: Some(self.description.to_owned()),
            subjects: vec![format!("{prefix}{}", self.subjects)],
            retention: RetentionPolicy::Limits,
            discard: DiscardPolicy::Old,
            storage: if in_memory { StorageType::Memory } else { StorageType::File },
            num_replicas: settings.replicas,
            max_age: self.max_age,
            duplicate_window: self.duplicate_window,
            ..Config::default()
        }
    }
}

impl Durable {
    fn config(&self, prefix: &str, deliver_policy: DeliverPolicy) -> pull::Config {
        pull::Config {
            durable_name: Some(self.name.to_owned()),
            description: Some(self.description.to_owned()),
            deliver_policy,
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            max_deliver: -1,
            filter_subjects: self.filters.iter().map(|filter| format!("{prefix}{filter}")).collect(),
            max_ack_pending: self.max_ack_pending,
            ..pull::Config::default()
        }
    }
}

/// The topology as text, for a golden file: a change of it is seen in review.
pub fn golden() -> String {
    let mut lines = Vec::new();
    for stream in STREAMS {
        let Config { storage, retention, discard, max_age, duplicate_window, .. } =
            stream.config("", Settings::default());
        lines.push(format!("stream {} ({})", stream.name, stream.description));
        lines.push(format!("  subjects {}", stream.subjects));
        lines.push(format!("  storage {storage:?}, retention {retention:?}, discard {discard:?}"));
        lines.push(format!("  max_age {max_age:?}, duplicate_window {duplicate_window:?}"));
    }
    for durable in DURABLES {
        let pull::Config { ack_policy, ack_wait, max_deliver, max_ack_pending, filter_subjects, .. } =
            durable.config("", DeliverPolicy::All);
        lines.push(format!("consumer {} on {} ({})", durable.name, FACTS.name, durable.description));
        lines.extend(filter_subjects.iter().map(|filter| format!("  filter {filter}")));
        lines.push(format!("  ack {ack_policy:?} within {ack_wait:?}, max_deliver {max_deliver}"));
        lines.push(format!("  max_ack_pending {max_ack_pending}, batch {}", durable.batch));
    }
    lines.join("\n") + "\n"
}
