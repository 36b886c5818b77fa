//! Sends live frames without ever making the model's stream wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oxagen_domain::Scope;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tracing::{debug, warn};

use super::frame::Frame;
use crate::bus::Bus;
use crate::subject;

/// Frames that wait to be sent; more than that are dropped.
const QUEUE: usize = 4096;
/// Pieces that come within this time are sent as one.
const GATHER: Duration = Duration::from_millis(15);
/// What is gathered is sent at the latest when it has this many bytes.
const ENOUGH: usize = 64 * 1024;
/// The longest text in one frame.
const PIECE: usize = 64 * 1024;

enum Order {
    Send(Scope, Frame),
    Flush(oneshot::Sender<()>),
}

/// Sends live frames. Cheap to clone; its task ends with the last clone.
#[derive(Clone, Debug)]
pub struct LivePublisher {
    queue: mpsc::Sender<Order>,
    dropped: Arc<AtomicU64>,
}

impl LivePublisher {
    /// Starts the task that sends. Must be called inside a runtime.
    pub fn start(bus: &Bus) -> Self {
        let (queue, orders) = mpsc::channel(QUEUE);
        tokio::spawn(send_gathered(bus.clone(), orders));
        Self { queue, dropped: Arc::default() }
    }

    /// Sends a frame soon. Never waits: with NATS away for long, frames are dropped and counted. A screen sees
    /// the missing offset, and the text itself comes with the fact that ends the step.
    pub fn send(&self, scope: Scope, frame: Frame) {
        match self.queue.try_send(Order::Send(scope, frame)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => {
                let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
                if dropped.is_power_of_two() {
                    warn!(dropped, "live frames are dropped, NATS does not take them");
                }
            }
        }
    }

    /// Frames dropped since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until what was sent before has been handed to the connection, at most `limit`.
    pub async fn flush(&self, limit: Duration) {
        let (done, flushed) = oneshot::channel();
        let flush = async {
            if self.queue.send(Order::Flush(done)).await.is_ok() {
                let _ = flushed.await;
            }
        };
        if tokio::time::timeout(limit, flush).await.is_err() {
            warn!("live frames are still waiting to be sent");
        }
    }
}

#[derive(Default)]
struct Gathered {
    frames: Vec<(Scope, Frame)>,
    bytes: usize,
    flushes: Vec<oneshot::Sender<()>>,
}

impl Gathered {
    fn take(&mut self, order: Order) {
        match order {
            Order::Send(scope, frame) => {
                self.bytes += frame.text().len();
                for piece in frame.split(PIECE) {
                    self.append(scope, piece);
                }
            }
            Order::Flush(done) => self.flushes.push(done),
        }
    }

    /// Joins a piece to the last frame of its conversation if it goes on there.
    fn append(&mut self, scope: Scope, piece: Frame) {
        let mut recent = self.frames.iter_mut().rev();
        let last = recent.find(|(_, frame)| frame.conversation_id == piece.conversation_id);
        let rest = match last {
            Some((_, frame)) if frame.text().len() + piece.text().len() <= PIECE => frame.absorb(piece),
            Some(_) | None => Some(piece),
        };
        self.frames.extend(rest.map(|piece| (scope, piece)));
    }

    fn is_enough(&self) -> bool {
        self.bytes >= ENOUGH || !self.flushes.is_empty()
    }
}

async fn send_gathered(bus: Bus, mut orders: mpsc::Receiver<Order>) {
    while let Some(first) = orders.recv().await {
        let mut gathered = Gathered::default();
        gathered.take(first);
        let until = Instant::now() + GATHER;
        while !gathered.is_enough() {
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(order) => gathered.take(order),
                    None => break,
                },
                () = sleep_until(until) => break,
            }
        }
        for (scope, frame) in &gathered.frames {
            publish(&bus, *scope, frame).await;
        }
        for done in gathered.flushes {
            if let Err(error) = bus.client().flush().await {
                debug!(%error, "live frames not flushed");
            }
            let _ = done.send(());
        }
    }
}

/// Hands a frame to the connection, which keeps it while it is made again. The stream takes it from there;
/// nobody waits for its acknowledgement.
async fn publish(bus: &Bus, scope: Scope, frame: &Frame) {
    let subject = subject::live(bus.prefix(), scope, frame.conversation_id);
    // A frame holds only strings and numbers: it always has a JSON form.
    let body = serde_json::to_vec(frame).unwrap_or_default();
    if let Err(error) = bus.client().publish(subject, body.into()).await {
        debug!(%error, "live frame not sent");
    }
}
