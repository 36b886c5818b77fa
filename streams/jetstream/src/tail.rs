//! Reads a stream on from a cursor, for ever: a named consumer with an explicit start, made again from our own
//! cursor after every error. The cursor is ours, so nothing depends on what the server remembers.

use std::time::Duration;

use async_nats::datetime::DateTime;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use tracing::{debug, info, warn};

use crate::backoff::Backoff;
use crate::bus::Bus;
use crate::error::JetStreamError;
use crate::pull::Pull;
use crate::topology::{Stream, make_reader, stream_info};

/// Messages in one batch, and asked for at a time while as many are still on their way.
pub(crate) const BATCH: usize = 500;
/// A consumer that nobody reads is dropped by the server after this time.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// What a message says about its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its place on the stream.
    pub(crate) seq: u64,
    /// Its place among what the consumer delivered.
    delivered: u64,
    /// Messages on the stream that come after it and pass the filter.
    pub(crate) behind: u64,
}

/// What comes next.
pub(crate) enum Step {
    /// Messages, ascending, at least one.
    Messages(Vec<(Place, Message)>),
    /// The messages after the cursor and before `next` are not on the stream.
    Gone {
        /// The first place from which the stream goes on.
        next: u64,
    },
}

/// A reader of one stream.
pub(crate) struct Tail {
    bus: Bus,
    stream: &'static Stream,
    name: String,
    filters: Vec<String>,
    cursor: u64,
    own_numbers: bool,
    made: Option<DateTime>,
    run: Option<Run>,
    backoff: Backoff,
}

struct Run {
    pull: Pull,
    delivered: u64,
}

impl Tail {
    /// A reader of what comes after `cursor` and passes one of `filters` (none: everything).
    pub(crate) fn new(
        bus: &Bus,
        stream: &'static Stream,
        name: &str,
        filters: Vec<String>,
        cursor: u64,
    ) -> Self {
        let (bus, name) = (bus.clone(), name.to_owned());
        Self {
            bus,
            stream,
            name,
            filters,
            cursor,
            own_numbers: false,
            made: None,
            run: None,
            backoff: Backoff::default(),
        }
    }

    /// For a stream whose numbers mean nothing elsewhere: when it was made again, it is read from its start.
    pub(crate) fn with_own_numbers(self) -> Self {
        Self { own_numbers: true, ..self }
    }

    /// The place of the last message given out.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Goes on after another place.
    pub(crate) fn seek(&mut self, cursor: u64) {
        self.cursor = cursor;
        self.run = None;
    }

    /// Waits for what comes next, through every failure of the server. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Step {
        loop {
            let run = match self.run.take() {
                Some(run) => self.run.insert(run),
                None => match self.open().await {
                    Ok(Opened::Run(run)) => self.run.insert(run),
                    Ok(Opened::Gone { next }) => return Step::Gone { next },
                    Err(error) => {
                        warn!(reader = self.name, cursor = self.cursor, %error, "cannot read on, trying again");
                        self.backoff.wait().await;
                        continue;
                    }
                },
            };
            let first = match run.pull.next().await {
                Ok(message) => message,
                Err(cause) => {
                    info!(reader = self.name, cursor = self.cursor, %cause, "reading on with a new consumer");
                    self.run = None;
                    self.backoff.wait().await;
                    continue;
                }
            };
            if let Some(step) = self.collect(first) {
                self.backoff.reset();
                return step;
            }
        }
    }

    /// The first message and those that are already here, as far as nothing is missing between them.
    fn collect(&mut self, first: Message) -> Option<Step> {
        let run = self.run.as_mut()?;
        let mut messages: Vec<(Place, Message)> = Vec::new();
        let mut message = Some(first);
        while let Some(received) = message {
            let Some(place) = place(&received) else {
                debug!(reader = self.name, subject = %received.subject, "a message without a place");
                self.run = None;
                break;
            };
            run.delivered += 1;
            if place.delivered != run.delivered {
                // Messages got lost on the way to us: read them again.
                info!(reader = self.name, cursor = self.cursor, "messages were lost on the way");
                self.run = None;
                break;
            }
            if self.filters.is_empty() && place.seq > self.cursor + 1 {
                self.run = None;
                if messages.is_empty() {
                    return Some(Step::Gone { next: place.seq });
                }
                break;
            }
            // What lies before the cursor was published again after a lost tail.
            if place.seq > self.cursor {
                self.cursor = place.seq;
                messages.push((place, received));
            }
            message = (messages.len() < BATCH).then(|| run.pull.ready()).flatten();
        }
        (!messages.is_empty()).then_some(Step::Messages(messages))
    }

    async fn open(&mut self) -> Result<Opened, JetStreamError> {
        let connections = self.bus.connections();
        let info = stream_info(&self.bus, self.stream).await?;
        let state = info.state;
        if self.own_numbers {
            let made_again = self.made.replace(info.created).is_some_and(|made| made != info.created);
            if made_again || state.last_sequence < self.cursor {
                self.cursor = 0;
            }
        }
        if state.first_sequence > self.cursor + 1 {
            return Ok(Opened::Gone { next: state.first_sequence });
        }
        let config = pull::Config {
            // A new name each time: the server refuses another start for a name that it knows.
            name: Some(format!("{}-{:08x}", self.name, rand::random::<u32>())),
            deliver_policy: DeliverPolicy::ByStartSequence {
                // After a lost tail the stream is shorter than our cursor and will have the same numbers again.
                start_sequence: self.cursor.min(state.last_sequence) + 1,
            },
            ack_policy: AckPolicy::None,
            filter_subjects: self.filters.clone(),
            inactive_threshold: FORGOTTEN,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer = make_reader(&self.bus, self.stream, config).await?;
        let pull = Pull::open(&self.bus, &consumer, 2 * BATCH, connections).await?;
        Ok(Opened::Run(Run { pull, delivered: 0 }))
    }
}

enum Opened {
    Run(Run),
    Gone { next: u64 },
}

fn place(message: &Message) -> Option<Place> {
    let info = message.info().ok()?;
    Some(Place { seq: info.stream_sequence, delivered: info.consumer_sequence, behind: info.pending })
}
