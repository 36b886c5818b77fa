//! One message to work on.

use std::fmt;
use std::ops::Deref;
use std::pin::pin;
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use oxagen_domain::Fact;
use tokio::time::{Instant, interval_at, timeout};
use tracing::warn;

use crate::envelope::Unread;
use crate::error::JetStreamError;

/// How often a long job says that it is still under way; shorter than every consumer's `ack_wait`.
const PROGRESS: Duration = Duration::from_secs(1);
/// The longest wait for the client to take an acknowledgement while the connection is down.
const TAKEN: Duration = Duration::from_secs(2);

/// The answer side of a message. Dropped without an answer, the message comes again after the consumer's
/// `ack_wait`.
pub struct Letter {
    /// The fact's place in history.
    pub seq: u64,
    /// How often the message has been delivered, this time included, from 1.
    pub delivered: u64,
    acker: Acker,
}

/// A fact to work on.
#[derive(Debug)]
pub struct Job {
    /// The fact.
    pub fact: Fact,
    letter: Letter,
}

/// A message that carries no fact. Read the fact from the journal by its `seq` and go on with
/// [`Unreadable::into_job`], or set it aside and acknowledge it.
#[derive(Debug, thiserror::Error)]
#[error("the message at {} ({subject}) cannot be read: {cause}", letter.seq)]
pub struct Unreadable {
    /// Why not.
    pub cause: Unread,
    /// Where it was published.
    pub subject: String,
    letter: Letter,
}

impl Letter {
    pub(crate) fn new(seq: u64, delivered: u64, acker: Acker) -> Self {
        Self { seq, delivered, acker }
    }

    /// It is done and does not come again.
    ///
    /// # Errors
    /// [`JetStreamError::Unavailable`] when it could not be sent; the message then comes again.
    pub async fn ack(&self) -> Result<(), JetStreamError> {
        self.answer(AckKind::Ack).await
    }

    /// It is not done; deliver it again after `delay`, to whoever asks then.
    ///
    /// # Errors
    /// As [`Self::ack`].
    pub async fn nak(&self, delay: Duration) -> Result<(), JetStreamError> {
        self.answer(AckKind::Nak(Some(delay))).await
    }

    /// It is still under way: the consumer's `ack_wait` begins anew.
    ///
    /// # Errors
    /// As [`Self::ack`].
    pub async fn progress(&self) -> Result<(), JetStreamError> {
        self.answer(AckKind::Progress).await
    }

    /// Runs `work` and reports progress every second until it ends, so that nobody else gets the message.
    pub async fn while_working<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let mut reports = pin!(self.keep_reporting());
        tokio::select! {
            output = &mut work => output,
            never = &mut reports => match never {},
        }
    }

    async fn keep_reporting(&self) -> std::convert::Infallible {
        // The delivery itself was the first sign of life.
        let mut ticks = interval_at(Instant::now() + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.progress().await {
                warn!(seq = self.seq, %error, "progress could not be reported");
            }
        }
    }

    async fn answer(&self, kind: AckKind) -> Result<(), JetStreamError> {
        let doing = || format!("answering the message at {}", self.seq);
        match timeout(TAKEN, self.acker.ack_with(kind)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(cause)) => Err(JetStreamError::unavailable(doing(), cause)),
            Err(elapsed) => Err(JetStreamError::unavailable(doing(), elapsed)),
        }
    }
}

impl Job {
    pub(crate) fn new(fact: Fact, letter: Letter) -> Self {
        Self { fact, letter }
    }
}

impl Unreadable {
    pub(crate) fn new(cause: Unread, subject: String, letter: Letter) -> Self {
        Self { cause, subject, letter }
    }

    /// The job, with the fact that the journal has under this message's `seq`.
    pub fn into_job(self, fact: Fact) -> Job {
        Job { fact, letter: self.letter }
    }
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Letter")
            .field("seq", &self.seq)
            .field("delivered", &self.delivered)
            .finish_non_exhaustive()
    }
}

impl Deref for Job {
    type Target = Letter;

    fn deref(&self) -> &Letter {
        &self.letter
    }
}

impl Deref for Unreadable {
    type Target = Letter;

    fn deref(&self) -> &Letter {
        &self.letter
    }
}
