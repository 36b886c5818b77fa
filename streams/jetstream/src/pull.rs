//! One run of pulling from a consumer, until anything goes wrong.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{Consumer, pull};
use futures::{FutureExt, StreamExt};
use tokio::sync::watch;

use crate::error::{Cause, JetStreamError};

/// How long the server keeps a request for messages open.
const EXPIRES: Duration = Duration::from_secs(5);
/// How often the server says that it is still there; two missing ones end the run.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A run of pulling. After its first error it is thrown away, and a new one is opened.
pub(crate) struct Pull {
    messages: pull::Stream,
    connections: watch::Receiver<u64>,
    failure: Option<Cause>,
}

impl Pull {
    /// Starts to pull, `batch` messages at a time. `connections` was taken before the consumer was looked up.
    pub(crate) async fn open(
        consumer: &Consumer<pull::Config>,
        batch: usize,
        connections: watch::Receiver<u64>,
    ) -> Result<Self, JetStreamError> {
        let messages = consumer
            .stream()
            .max_messages_per_batch(batch)
            .expires(EXPIRES)
            .heartbeat(HEARTBEAT)
            .messages()
            .await
            .map_err(|cause| JetStreamError::unavailable("pulling messages", cause))?;
        Ok(Self { messages, connections, failure: None })
    }

    /// The next message. Safe to cancel.
    ///
    /// # Errors
    /// Any error ends the run.
    pub(crate) async fn next(&mut self) -> Result<Message, Cause> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        tokio::select! {
            biased;
            message = self.messages.next() => match message {
                Some(Ok(message)) => Ok(message),
                Some(Err(error)) => Err(error.into()),
                None => Err("the subscription ended".into()),
            },
            // The request for messages went down with the old connection; the client would notice seconds later.
            _ = self.connections.changed() => Err("the connection was made again".into()),
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
}
