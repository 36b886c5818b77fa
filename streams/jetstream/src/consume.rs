//! Work that several processes share: each message goes to one of them, and again to another if the first
//! neither acknowledges it nor says that it is still at it.

mod job;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::Message;
use tokio::task::JoinSet;
use tracing::{debug, info, warn};

pub use job::{Job, Letter, Unreadable};

use crate::backoff::Backoff;
use crate::bus::Bus;
use crate::envelope;
use crate::error::JetStreamError;
use crate::pull::Pull;
use crate::topology::{Durable, FACTS, find_or_make, stream_name};

/// How often a durable consumer is asked how far it is.
const LOOK: Duration = Duration::from_secs(5);

/// How far a durable consumer is, over all processes that share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Everything up to this `seq` is acknowledged.
    pub floor: u64,
    /// Messages delivered and not acknowledged yet.
    pub under_way: u64,
    /// Messages not delivered yet.
    pub waiting: u64,
}

/// This process's share of a durable consumer's messages.
pub struct Work {
    bus: Bus,
    durable: &'static Durable,
    pull: Option<Pull>,
    backoff: Backoff,
    floor: Arc<AtomicU64>,
    _look: JoinSet<()>,
}

/// Takes part in the work of a durable consumer, such as `topology::RUNNER`. Must be called inside a runtime.
pub fn work(bus: &Bus, durable: &'static Durable) -> Work {
    let floor = Arc::new(AtomicU64::new(0));
    let mut look = JoinSet::new();
    look.spawn(keep_looking(bus.clone(), durable, Arc::clone(&floor)));
    Work { bus: bus.clone(), durable, pull: None, backoff: Backoff::default(), floor, _look: look }
}

/// How far a durable consumer is.
///
/// # Errors
/// [`JetStreamError::Unavailable`] without an answer, also when there is no such consumer at the moment.
pub async fn lag(bus: &Bus, durable: &Durable) -> Result<Lag, JetStreamError> {
    let doing = || format!("asking how far the consumer {} is", durable.name);
    let stream = bus
        .questions()
        .get_stream_no_info(stream_name(bus, &FACTS))
        .await
        .map_err(|cause| JetStreamError::refused(doing(), cause))?;
    let info = stream
        .consumer_info(durable.name)
        .await
        .map_err(|cause| JetStreamError::unavailable(doing(), cause))?;
    Ok(Lag {
        floor: info.ack_floor.stream_sequence,
        under_way: info.num_ack_pending as u64,
        waiting: info.num_pending,
    })
}

impl Work {
    /// Waits for the next message, through restarts of the server and deleted consumers. Safe to cancel. `hands` says
    /// how many messages could be attended to by now, this one among them: no more are asked for, so none waits here for
    /// a free hand while another process has one.
    ///
    /// # Errors
    /// [`Unreadable`]: a message came that carries no fact. It must be acknowledged all the same; the journal
    /// has the fact under its `seq`.
    pub async fn next(&mut self, hands: usize) -> Result<Job, Unreadable> {
        loop {
            let pull = match self.pull.take() {
                Some(pull) => self.pull.insert(pull),
                None => match self.open().await {
                    Ok(pull) => self.pull.insert(pull),
                    Err(error) => {
                        warn!(consumer = self.durable.name, %error, "cannot take work, trying again");
                        self.backoff.wait().await;
                        continue;
                    }
                },
            };
            pull.want(hands.min(self.durable.batch));
            match pull.next().await {
                Ok(message) => {
                    self.backoff.reset();
                    if let Some(received) = read(message) {
                        return received;
                    }
                }
                Err(cause) => {
                    info!(consumer = self.durable.name, %cause, "taking work anew");
                    self.pull = None;
                    self.backoff.wait().await;
                }
            }
        }
    }

    async fn open(&self) -> Result<Pull, JetStreamError> {
        let connections = self.bus.connections();
        let consumer = find_or_make(&self.bus, self.durable, self.floor.load(Ordering::Relaxed)).await?;
        self.floor.fetch_max(consumer.cached_info().ack_floor.stream_sequence, Ordering::Relaxed);
        Pull::open(&self.bus, &consumer, 1, connections).await
    }
}

impl Drop for Work {
    /// What has come and was not taken goes to somebody else at once.
    fn drop(&mut self) {
        if let Some(pull) = self.pull.take() {
            pull.give_back();
        }
    }
}

fn read(message: Message) -> Option<Result<Job, Unreadable>> {
    let Ok((seq, delivered)) = message.info().map(|info| (info.stream_sequence, info.delivered)) else {
        debug!(subject = %message.subject, "a message without a place");
        return None;
    };
    let (message, acker) = message.split();
    let letter = Letter::new(seq, u64::try_from(delivered).unwrap_or(1), acker);
    Some(match envelope::decode(seq, message.headers.as_ref(), &message.payload) {
        Ok(fact) => Ok(Job::new(fact, letter)),
        Err(cause) => Err(Unreadable::new(cause, message.subject.to_string(), letter)),
    })
}

/// Remembers how far the consumer is, so that it can be made anew there should it be deleted. An older place
/// than the true one is safe: some messages come again.
async fn keep_looking(bus: Bus, durable: &'static Durable, floor: Arc<AtomicU64>) {
    loop {
        tokio::time::sleep(LOOK).await;
        match lag(&bus, durable).await {
            Ok(lag) => {
                floor.fetch_max(lag.floor, Ordering::Relaxed);
            }
            Err(error) => debug!(consumer = durable.name, %error, "not known how far it is"),
        }
    }
}
