//! Reads live frames: all new ones for a gateway node, or one conversation's for a newcomer.

use std::time::Duration;

use async_nats::datetime;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use chrono::{DateTime, Utc};
use futures::{Stream, StreamExt, stream};
use oxagen_domain::{ConversationId, Scope};
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::frame::Frame;
use crate::bus::Bus;
use crate::error::JetStreamError;
use crate::pull::Pull;
use crate::subject;
use crate::tail::{BATCH, Step, Tail};
use crate::topology::{LIVE, make_reader, stream_info};

/// The longest time that a newcomer waits for the frames so far.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often they are asked for, as a screen without them shows a text from its middle on.
const TRIES: u32 = 3;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// A newcomer's consumer is dropped by the server after this time.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// All frames from now on, of all tenants, with one consumer. It survives restarts of the server and then goes
/// on where it was; it never ends.
///
/// # Errors
/// [`JetStreamError`] when the stream's end is not to be learned.
pub async fn follow(bus: &Bus) -> Result<impl Stream<Item = (Scope, Frame)> + Send + use<>, JetStreamError> {
    let end = stream_info(bus, &LIVE).await?.state.last_sequence;
    let prefix = bus.prefix().to_owned();
    let tail = Tail::new(bus, &LIVE, "live", Vec::new(), end).with_own_numbers();
    let batches = stream::unfold(tail, |mut tail| async move {
        loop {
            match tail.next().await {
                Step::Messages(messages) => return Some((messages, tail)),
                // Dropped frames are no loss to anybody: their facts have come by now.
                Step::Gone { next } => tail.seek(next - 1),
            }
        }
    });
    Ok(batches.flat_map(move |messages| {
        let frames: Vec<_> = messages.iter().filter_map(|(_, message)| read(&prefix, message)).collect();
        stream::iter(frames)
    }))
}

/// The frames of a conversation that are still kept, in order, pieces of one text joined. `since` leaves out
/// those that were stored before: give the time of the last fact of the step that is under way, less a few
/// seconds for differing clocks, or everything of the last hour is read.
///
/// # Errors
/// [`JetStreamError`] when they cannot be read within five seconds.
pub async fn recent(
    bus: &Bus,
    scope: Scope,
    conversation: ConversationId,
    since: Option<DateTime<Utc>>,
) -> Result<Vec<Frame>, JetStreamError> {
    let read = async {
        for _ in 1..TRIES {
            match read_kept(bus, scope, conversation, since).await {
                Ok(frames) => return Ok(frames),
                Err(error) => debug!(%error, "reading the live frames so far once more"),
            }
            sleep(PAUSE).await;
        }
        read_kept(bus, scope, conversation, since).await
    };
    timeout(PATIENCE, read)
        .await
        .map_err(|elapsed| JetStreamError::unavailable("reading the live frames so far", elapsed))?
}

async fn read_kept(
    bus: &Bus,
    scope: Scope,
    conversation: ConversationId,
    since: Option<DateTime<Utc>>,
) -> Result<Vec<Frame>, JetStreamError> {
    let connections = bus.connections();
    let start = since
        .and_then(|time| time.timestamp_nanos_opt())
        .and_then(|nanos| datetime::from_nanos(nanos.into()).ok());
    let config = pull::Config {
        name: Some(format!("recent-{:016x}", rand::random::<u64>())),
        deliver_policy: match start {
            Some(start_time) => DeliverPolicy::ByStartTime { start_time },
            None => DeliverPolicy::All,
        },
        ack_policy: AckPolicy::None,
        filter_subject: subject::live(bus.prefix(), scope, conversation),
        inactive_threshold: FORGOTTEN,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let consumer = make_reader(bus, &LIVE, config).await?;
    let mut left = consumer.cached_info().num_pending;
    let mut frames: Vec<Frame> = Vec::new();
    if left > 0 {
        let mut pull = Pull::open(bus, &consumer, BATCH, connections).await?;
        while left > 0 {
            let message = pull.next().await;
            let message = message
                .map_err(|cause| JetStreamError::unavailable("reading the live frames so far", cause))?;
            left -= 1;
            if let Some((_, frame)) = read(bus.prefix(), &message) {
                let rest = match frames.last_mut() {
                    Some(last) => last.absorb(frame),
                    None => Some(frame),
                };
                frames.extend(rest);
            }
        }
    }
    forget(bus, &consumer.cached_info().stream_name, &consumer.cached_info().name).await;
    Ok(frames)
}

async fn forget(bus: &Bus, stream: &str, consumer: &str) {
    if let Err(error) = bus.questions().delete_consumer_from_stream(consumer, stream).await {
        debug!(%error, "the server drops the consumer by itself later");
    }
}

fn read(prefix: &str, message: &Message) -> Option<(Scope, Frame)> {
    let (scope, conversation) = subject::parse_live(prefix, &message.subject)?;
    match serde_json::from_slice::<Frame>(&message.payload) {
        Ok(frame) if frame.conversation_id == conversation => Some((scope, frame)),
        Ok(_) => {
            warn!(subject = %message.subject, "a live frame under another conversation's subject");
            None
        }
        Err(error) => {
            debug!(subject = %message.subject, %error, "a live frame of another build");
            None
        }
    }
}
