//! Makes the server agree with the list.

use async_nats::jetstream::consumer::{Consumer, DeliverPolicy, pull};
use async_nats::jetstream::context::{ConsumerInfoErrorKind, CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::stream::{
    Config, ConsumerCreateStrictErrorKind, ConsumerErrorKind, ConsumerUpdateErrorKind, Info,
};
use async_nats::jetstream::{Error as Answer, ErrorCode};
use tracing::info;

use super::{DURABLES, Durable, FACTS, GIVEN_AGAIN, LIVE, Settings, Stream, stream_name};
use crate::bus::Bus;
use crate::error::{Cause, JetStreamError};

/// Makes what is missing and updates what differs. `head` is the journal's last `seq`: a facts stream that is
/// not there begins near it. Harmless to repeat, and safe beside another process that does the same.
///
/// # Errors
/// [`JetStreamError::Unavailable`] without an answer; [`JetStreamError::Refused`] when a stream on the server
/// differs in something that cannot be changed.
pub async fn apply(bus: &Bus, head: u64, settings: Settings) -> Result<(), JetStreamError> {
    let first = head.saturating_sub(GIVEN_AGAIN) + 1;
    make_stream(bus, &FACTS, settings, (first > 1).then_some(first)).await?;
    make_stream(bus, &LIVE, settings, None).await?;
    for durable in DURABLES {
        ensure(bus, durable, 0).await?;
    }
    Ok(())
}

/// Drops the facts stream and makes it again near `head`. For a stream that is *ahead* of the journal, which
/// means that the journal was restored or replaced: its numbers stand for other facts.
///
/// # Errors
/// As [`apply`].
pub async fn remake(bus: &Bus, head: u64, settings: Settings) -> Result<(), JetStreamError> {
    let name = stream_name(bus, &FACTS);
    info!(stream = name, head, "making the stream again");
    match stream_info(bus, &FACTS).await {
        Ok(_) => {
            let dropped = bus.context().delete_stream(&name).await;
            dropped.map_err(|cause| JetStreamError::unavailable(format!("dropping {name}"), cause))?;
        }
        Err(JetStreamError::NoStream { .. }) => {}
        Err(error) => return Err(error),
    }
    apply(bus, head, settings).await
}

/// A stream's state on the server.
pub(crate) async fn stream_info(bus: &Bus, stream: &Stream) -> Result<Info, JetStreamError> {
    let name = stream_name(bus, stream);
    let error = match bus.context().get_stream(&name).await {
        Ok(found) => return Ok(found.cached_info().clone()),
        Err(error) => error,
    };
    match error.kind() {
        GetStreamErrorKind::JetStream(answer) if answer.error_code() == ErrorCode::STREAM_NOT_FOUND => {
            Err(JetStreamError::NoStream { stream: name })
        }
        GetStreamErrorKind::JetStream(_)
        | GetStreamErrorKind::EmptyName
        | GetStreamErrorKind::Request
        | GetStreamErrorKind::InvalidStreamName => {
            Err(JetStreamError::unavailable(format!("reading the stream {name}"), error))
        }
    }
}

async fn make_stream(
    bus: &Bus,
    stream: &Stream,
    settings: Settings,
    first_sequence: Option<u64>,
) -> Result<(), JetStreamError> {
    let wanted = Config { first_sequence, ..stream.config(bus.prefix(), settings) };
    let made = match stream_info(bus, stream).await {
        Ok(found) => {
            // Where it began cannot be changed afterwards.
            let wanted = Config { first_sequence: found.config.first_sequence, ..wanted };
            bus.context().update_stream(&wanted).await.map(drop)
        }
        Err(JetStreamError::NoStream { .. }) => {
            info!(stream = wanted.name, first_sequence, "making the stream");
            bus.context().create_stream(wanted).await.map(drop)
        }
        Err(error) => return Err(error),
    };
    made.map_err(|error| {
        let answer = match error.kind() {
            CreateStreamErrorKind::JetStream(answer) => Some(answer),
            _ => None,
        };
        failed(format!("making the stream {}", stream_name(bus, stream)), answer, error)
    })
}

/// The durable consumer as listed: found, updated, or made anew after `floor`, up to which all of its messages
/// are known to be acknowledged (0: begin with the stream's first message).
pub(crate) async fn ensure(
    bus: &Bus,
    durable: &Durable,
    floor: u64,
) -> Result<Consumer<pull::Config>, JetStreamError> {
    let stream = stream_name(bus, &FACTS);
    let doing = format!("making the consumer {} of {stream}", durable.name);
    let handle = match bus.context().get_stream_no_info(&stream).await {
        Ok(handle) => handle,
        Err(error) => return Err(JetStreamError::refused(doing, error)),
    };
    let error = match handle.consumer_info(durable.name).await {
        Ok(found) => {
            // Where it began cannot be changed afterwards.
            let config = durable.config(bus.prefix(), found.config.deliver_policy);
            return handle.update_consumer(config).await.map_err(|error| {
                let answer = match error.kind() {
                    ConsumerUpdateErrorKind::JetStream(answer) => Some(answer),
                    _ => None,
                };
                failed(doing, answer, error)
            });
        }
        Err(error) => error,
    };
    match error.kind() {
        ConsumerInfoErrorKind::NotFound => {}
        ConsumerInfoErrorKind::StreamNotFound => return Err(JetStreamError::NoStream { stream }),
        _ => return Err(JetStreamError::unavailable(doing, error)),
    }
    let policy = match floor {
        0 => DeliverPolicy::All,
        floor => DeliverPolicy::ByStartSequence { start_sequence: floor + 1 },
    };
    info!(consumer = durable.name, stream, ?policy, "making the consumer");
    let error = match handle.create_consumer_strict(durable.config(bus.prefix(), policy)).await {
        Ok(made) => return Ok(made),
        Err(error) => error,
    };
    match error.kind() {
        // Another process was faster.
        ConsumerCreateStrictErrorKind::AlreadyExists => {
            let found = handle.get_consumer(durable.name).await;
            found.map_err(|cause| JetStreamError::unavailable(doing, cause))
        }
        ConsumerCreateStrictErrorKind::JetStream(answer) => Err(failed(doing, Some(answer), error)),
        _ => Err(failed(doing, None, error)),
    }
}

/// A named consumer without acknowledgements that vanishes with its reader.
pub(crate) async fn make_reader(
    bus: &Bus,
    stream: &Stream,
    config: pull::Config,
) -> Result<Consumer<pull::Config>, JetStreamError> {
    let stream = stream_name(bus, stream);
    let made = bus.context().create_consumer_on_stream(config, &stream).await;
    made.map_err(|error| {
        let answer = match error.kind() {
            ConsumerErrorKind::JetStream(answer) => Some(answer),
            _ => None,
        };
        failed(format!("making a reader of {stream}"), answer, error)
    })
}

/// A server that is at fault, or silent, may be asked again; one that says no may not.
fn failed(doing: String, answer: Option<Answer>, cause: impl Into<Cause>) -> JetStreamError {
    match answer {
        Some(answer) if answer.code() < 500 => JetStreamError::refused(doing, cause),
        Some(_) | None => JetStreamError::unavailable(doing, cause),
    }
}
