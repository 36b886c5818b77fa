//! Where a viewer's bytes go: a short queue to the connection, with signs of life in between.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use fail::fail_point;
use oxagen_jetstream::live::Frame;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use super::encode;
use super::viewer::End;
use crate::hub::Passing;

/// A connection that takes nothing for so long is given up.
const STUCK: Duration = Duration::from_secs(60);

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Server-sent events.
    Events,
    /// A fact a line, for programs (NDJSON).
    Lines,
}

impl Style {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// Where a viewer's bytes go.
pub(super) struct Outlet {
    sender: mpsc::Sender<Bytes>,
    style: Style,
    heartbeat: Interval,
}

impl Outlet {
    pub(super) fn new(sender: mpsc::Sender<Bytes>, style: Style, every: Duration) -> Self {
        let mut heartbeat = interval(every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        Self { sender, style, heartbeat }
    }

    /// Ends when the viewer has gone.
    pub(super) fn gone(&self) -> impl Future<Output = ()> + use<> {
        let sender = self.sender.clone();
        async move { sender.closed().await }
    }

    pub(super) async fn fact(&mut self, passing: &Passing) -> Result<(), End> {
        let bytes = match self.style {
            Style::Events => passing.event(),
            Style::Lines => encode::line(&passing.fact),
        };
        let sent = self.send(bytes).await;
        fail_point!("gateway.shown", |_| std::process::abort());
        sent
    }

    pub(super) async fn frame(&mut self, frame: &Frame) -> Result<(), End> {
        match self.style {
            Style::Events => self.send(encode::frame(frame)).await,
            Style::Lines => Ok(()),
        }
    }

    /// An event that is no fact; a program that reads lines gets facts alone.
    pub(super) async fn named(&mut self, name: &str, data: &Value) -> Result<(), End> {
        match self.style {
            Style::Events => self.send(encode::named(name, data)).await,
            Style::Lines => Ok(()),
        }
    }

    /// A sign of life.
    pub(super) async fn beat(&mut self) -> Result<(), End> {
        match self.style {
            Style::Events => self.send(encode::comment("alive")).await,
            Style::Lines => self.send(Bytes::from_static(b"\n")).await,
        }
    }

    /// Waits for some work, with signs of life meanwhile.
    pub(super) async fn beating<T>(&mut self, work: impl Future<Output = T>) -> Result<T, End> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = self.silence() => self.beat().await?,
            }
        }
    }

    /// Ends when nothing was sent for too long. Safe to cancel.
    pub(super) async fn silence(&mut self) {
        self.heartbeat.tick().await;
    }

    async fn send(&mut self, bytes: Bytes) -> Result<(), End> {
        match timeout(STUCK, self.sender.send(bytes)).await {
            Ok(Ok(())) => {
                self.heartbeat.reset();
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }
}
