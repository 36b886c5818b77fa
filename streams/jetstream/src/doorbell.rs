//! The doorbell: tells the relay that events were committed. It may be missed; the relay also looks by itself.

use async_nats::Subscriber;
use bytes::Bytes;
use futures::stream::ReadyChunks;
use futures::{FutureExt, StreamExt};

use crate::bus::Bus;
use crate::error::JetStreamError;

/// Rings that came while the listener was busy and are heard as one, at most.
const COALESCED: usize = 1024;

fn subject(bus: &Bus) -> String {
    format!("{}oxagen.doorbell", bus.prefix())
}

/// Rings. Never waits: a ring that cannot be sent at once is dropped.
pub fn ring(bus: &Bus) {
    if bus.is_connected() {
        // Polled once: either the client takes it now, or nobody waits for it.
        let _ = bus.client().publish(subject(bus), Bytes::new()).now_or_never();
    }
}

/// Listens for rings.
#[derive(Debug)]
pub struct Doorbell {
    rings: ReadyChunks<Subscriber>,
}

/// Starts to listen; rings from now on are heard, also after a reconnect.
///
/// # Errors
/// [`JetStreamError::Unavailable`] when the connection was closed for good.
pub async fn listen(bus: &Bus) -> Result<Doorbell, JetStreamError> {
    let rings = bus
        .client()
        .subscribe(subject(bus))
        .await
        .map_err(|cause| JetStreamError::unavailable("listening for the doorbell", cause))?;
    Ok(Doorbell { rings: rings.ready_chunks(COALESCED) })
}

impl Doorbell {
    /// Waits for a ring; all that came since the last call count as one. Safe to cancel.
    pub async fn rung(&mut self) {
        if self.rings.next().await.is_none() {
            // The connection was closed for good; the relay goes on by looking.
            std::future::pending::<()>().await;
        }
    }
}
