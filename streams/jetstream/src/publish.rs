//! Puts numbered facts on the stream, each at the place that is its `seq`.
//!
//! Every message names the sequence that it expects to be the last one, so the stream cannot get a gap, a
//! repeat or a second relay's messages in between.

use std::error::Error;
use std::future::IntoFuture;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{PublishAckFuture, PublishError as ClientError, PublishErrorKind};
use oxagen_domain::Fact;
use tokio::sync::watch;

use crate::bus::Bus;
use crate::envelope;
use crate::error::{Cause, JetStreamError};
use crate::topology::{FACTS, stream_info, stream_name};

/// Facts that are under way at a time.
const WINDOW: usize = 500;

/// Why facts were not published. Those before the one that failed may be on the stream.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The stream does not end at `seq - 1`: another relay published. Read [`Publisher::last_sequence`] again.
    #[error("fact {seq} does not come next on the stream: {cause}")]
    Fenced {
        /// The fact refused.
        seq: u64,
        /// What the server said.
        cause: Cause,
    },
    /// No answer. Read [`Publisher::last_sequence`] again when the connection is back.
    #[error("NATS did not acknowledge: {0}")]
    Unavailable(Cause),
    /// The stream is not there. `topology::apply` makes it again.
    #[error("the stream {0} is not on the NATS server")]
    Lost(String),
    /// Even without its body the message is larger than the server allows (`max_payload`, `max_msg_size`).
    #[error("fact {seq} is larger than the NATS server takes: {cause}; raise its `max_payload`")]
    TooLarge {
        /// The fact refused.
        seq: u64,
        /// What the client or the server said.
        cause: Cause,
    },
    /// The server takes no message: full, read-only, or not allowed.
    #[error("NATS refused fact {seq}: {cause}")]
    Refused {
        /// The fact refused.
        seq: u64,
        /// What the server said.
        cause: Cause,
    },
}

/// Publishes facts. One relay at a time has one.
#[derive(Clone, Debug)]
pub struct Publisher {
    bus: Bus,
    stream: String,
}

impl Publisher {
    /// A publisher on this connection.
    pub fn new(bus: &Bus) -> Self {
        Self { bus: bus.clone(), stream: stream_name(bus, &FACTS) }
    }

    /// The `seq` of the last fact on the stream; the next to publish is one more.
    ///
    /// # Errors
    /// [`PublishError::Lost`] when there is no such stream, [`PublishError::Unavailable`] without an answer.
    pub async fn last_sequence(&self) -> Result<u64, PublishError> {
        match stream_info(&self.bus, &FACTS).await {
            Ok(info) => Ok(info.state.last_sequence),
            Err(JetStreamError::NoStream { stream }) => Err(PublishError::Lost(stream)),
            Err(error) => Err(PublishError::Unavailable(error.into())),
        }
    }

    /// Publishes facts whose `seq` ascend by one from [`Self::last_sequence`] + 1. When it returns, all of them
    /// are on the stream. Publishing the same facts again is refused as [`PublishError::Fenced`] and changes nothing.
    ///
    /// # Errors
    /// The first failure; see [`PublishError`].
    pub async fn publish(&self, facts: &[Fact]) -> Result<(), PublishError> {
        for window in facts.chunks(WINDOW) {
            let mut connections = self.bus.connections();
            let mut under_way = Vec::with_capacity(window.len());
            let mut failure = Ok(());
            for fact in window {
                match self.send(fact).await {
                    Ok(acknowledged) => under_way.push((fact.seq, acknowledged)),
                    Err(error) => {
                        failure = Err(error);
                        break;
                    }
                }
            }
            for (seq, acknowledged) in under_way {
                self.settled(seq, acknowledged, &mut connections).await?;
            }
            failure?;
        }
        Ok(())
    }

    async fn send(&self, fact: &Fact) -> Result<PublishAckFuture, PublishError> {
        let max_payload = self.bus.client().max_payload();
        let (subject, message) = envelope::encode(self.bus.prefix(), fact, max_payload)
            .map_err(|cause| PublishError::Refused { seq: fact.seq, cause: cause.into() })?;
        let message = message.expected_stream(&self.stream);
        let sent = self.bus.context().send_publish(subject, message).await;
        sent.map_err(|error| self.explain(fact.seq, error))
    }

    async fn settled(
        &self,
        seq: u64,
        acknowledged: PublishAckFuture,
        connections: &mut watch::Receiver<u64>,
    ) -> Result<(), PublishError> {
        tokio::select! {
            answer = acknowledged.into_future() => match answer {
                // The server has had this event before, at another place: the history on the stream is not ours.
                Ok(ack) if ack.sequence != seq => Err(PublishError::Fenced {
                    seq,
                    cause: format!("the stream has this event at {}", ack.sequence).into(),
                }),
                Ok(_) => Ok(()),
                Err(error) => Err(self.explain(seq, error)),
            },
            // What was under way when the connection broke is never acknowledged.
            _ = connections.changed() => Err(PublishError::Unavailable("the connection was made again".into())),
        }
    }

    fn explain(&self, seq: u64, error: ClientError) -> PublishError {
        match error.kind() {
            PublishErrorKind::WrongLastSequence | PublishErrorKind::WrongLastMessageId => {
                PublishError::Fenced { seq, cause: error.into() }
            }
            PublishErrorKind::StreamNotFound => PublishError::Lost(self.stream.clone()),
            PublishErrorKind::MaxPayloadExceeded => PublishError::TooLarge { seq, cause: error.into() },
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe | PublishErrorKind::MaxAckPending => {
                PublishError::Unavailable(error.into())
            }
            PublishErrorKind::Other => match server_code(&error) {
                Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT) => {
                    PublishError::Fenced { seq, cause: error.into() }
                }
                Some(
                    ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM | ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM,
                ) => PublishError::TooLarge { seq, cause: error.into() },
                Some(ErrorCode::CLUSTER_NOT_AVAILABLE | ErrorCode::CLUSTER_NOT_LEADER) => {
                    PublishError::Unavailable(error.into())
                }
                Some(_) => PublishError::Refused { seq, cause: error.into() },
                None => PublishError::Unavailable(error.into()),
            },
        }
    }
}

fn server_code(error: &ClientError) -> Option<ErrorCode> {
    let answer = error.source()?.downcast_ref::<async_nats::jetstream::Error>()?;
    Some(answer.error_code())
}
