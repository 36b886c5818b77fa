//! One run of pulling from a consumer, until anything goes wrong.
//!
//! The client's own stream of messages counts a request only when a task beside it has told that it was sent. A message
//! that was here before that was not taken off, and the stream then waited for messages that nobody had been asked for,
//! until heartbeats were missing. Here a request counts from the moment in which it is on its way.

use std::time::Duration;

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use async_nats::{StatusCode, Subscriber};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::bus::Bus;
use crate::error::{Cause, JetStreamError};

/// How long the server keeps a request for messages open.
const EXPIRES: Duration = Duration::from_secs(5);
/// How often the server says that it is still there; two missing ones end the run.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// In what ends a request, the server says how many of its messages have not come.
const NOT_COME: &str = "Nats-Pending-Messages";

/// A run of pulling. After its first error it is thrown away, and a new one is opened.
pub(crate) struct Pull {
    bus: Bus,
    /// Where requests go.
    subject: String,
    /// Where messages come.
    inbox: String,
    messages: Subscriber,
    /// Messages that are wanted on their way.
    wanted: usize,
    /// Messages that the server was asked for and that have not come yet.
    pending: usize,
    connections: watch::Receiver<u64>,
    /// When the server has been silent for too long; none while nobody listens.
    deadline: Option<Instant>,
    failure: Option<Cause>,
}

impl Pull {
    /// Starts to pull, with about `wanted` messages on their way at a time. `connections` was taken before the consumer
    /// was looked up.
    pub(crate) async fn open(
        bus: &Bus,
        consumer: &Consumer<pull::Config>,
        wanted: usize,
        connections: watch::Receiver<u64>,
    ) -> Result<Self, JetStreamError> {
        let inbox = bus.client().new_inbox();
        let messages = bus
            .client()
            .subscribe(inbox.clone())
            .await
            .map_err(|cause| JetStreamError::unavailable("pulling messages", cause))?;
        let info = consumer.cached_info();
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", info.stream_name, info.name);
        let bus = bus.clone();
        Ok(Self {
            bus,
            subject,
            inbox,
            messages,
            wanted,
            pending: 0,
            connections,
            deadline: None,
            failure: None,
        })
    }

    /// From now on no more than so many messages are to be on their way, and at least one.
    pub(crate) fn want(&mut self, wanted: usize) {
        self.wanted = wanted.max(1);
    }

    /// The next message. Safe to cancel.
    ///
    /// # Errors
    /// Any error ends the run.
    pub(crate) async fn next(&mut self) -> Result<Message, Cause> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        loop {
            if self.pending <= self.wanted / 2 {
                self.ask(self.wanted - self.pending).await?;
            }
            let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + HEARTBEAT * 2);
            let message = tokio::select! {
                biased;
                message = self.messages.next() => message.ok_or("the subscription ended")?,
                // Requests went down with the old connection; their expiry would be noticed seconds later.
                _ = self.connections.changed() => return Err("the connection was made again".into()),
                () = sleep_until(deadline) => return Err("the server was silent for two heartbeats".into()),
            };
            self.deadline = None;
            match message.status {
                None | Some(StatusCode::OK) => {
                    self.pending = self.pending.saturating_sub(1);
                    return Ok(Message { message, context: self.bus.context().clone() });
                }
                Some(StatusCode::IDLE_HEARTBEAT) => {}
                Some(status) => {
                    let left = message.headers.as_ref().and_then(|headers| headers.get(NOT_COME));
                    let Some(left) = left.and_then(|left| left.as_str().parse::<usize>().ok()) else {
                        let why = message.description.as_deref().unwrap_or_default();
                        return Err(format!("the server ended it: {status} {why}").into());
                    };
                    // One request ended, most likely because it was open for long enough.
                    self.pending = self.pending.saturating_sub(left);
                }
            }
        }
    }

    /// A message that is already here; an error is kept for the next call of [`Self::next`].
    pub(crate) fn ready(&mut self) -> Option<Message> {
        if self.failure.is_some() {
            return None;
        }
        match self.next().now_or_never()? {
            Ok(message) => Some(message),
            Err(failure) => {
                self.failure = Some(failure);
                None
            }
        }
    }

    /// Ends the run of a consumer that is to be answered: who asks next gets what has come and was not taken.
    pub(crate) fn give_back(mut self) {
        while let Some(Some(message)) = self.messages.next().now_or_never() {
            if matches!(message.status, None | Some(StatusCode::OK)) {
                let message = Message { message, context: self.bus.context().clone() };
                // Polled once: either the client takes it now, or the message comes again after `ack_wait`.
                let _ = message.ack_with(AckKind::Nak(None)).now_or_never();
            }
        }
    }

    async fn ask(&mut self, batch: usize) -> Result<(), Cause> {
        let request = json!({
            "batch": batch,
            "expires": nanoseconds(EXPIRES),
            "idle_heartbeat": nanoseconds(HEARTBEAT),
        });
        let request = Bytes::from(request.to_string());
        self.bus.client().publish_with_reply(self.subject.clone(), self.inbox.clone(), request).await?;
        // Nothing is awaited in between: what comes for it is seen after this.
        self.pending += batch;
        self.deadline = None;
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
