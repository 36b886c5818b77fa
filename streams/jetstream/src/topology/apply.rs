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

/// What the server answers while it starts, elects a leader or is short of something.
const NOT_READY: usize = 503;

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
        update(bus, durable).await?;
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
            let dropped = bus.questions().delete_stream(&name).await;
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
    let error = match bus.questions().get_stream(&name).await {
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
            bus.questions().update_stream(&wanted).await.map(drop)
        }
        Err(JetStreamError::NoStream { .. }) => {
            info!(stream = wanted.name, first_sequence, "making the stream");
            bus.questions().create_stream(wanted).await.map(drop)
        }
        Err(error) => return Err(error),
    };
    made.map_err(|error| {
        let answer =
            if let CreateStreamErrorKind::JetStream(answer) = error.kind() { Some(answer) } else { None };
        failed(format!("making the stream {}", stream_name(bus, stream)), answer, error)
    })
}

/// The durable consumer as it is on the server, or made anew after `floor`, up to which all of its messages are
/// known to be acknowledged (0: begin with the stream's first message).
pub(crate) async fn find_or_make(
    bus: &Bus,
    durable: &Durable,
    floor: u64,
) -> Result<Consumer<pull::Config>, JetStreamError> {
    let stream = stream_name(bus, &FACTS);
    let doing = format!("making the consumer {} of {stream}", durable.name);
    let handle = match bus.questions().get_stream_no_info(&stream).await {
        Ok(handle) => handle,
        Err(error) => return Err(JetStreamError::refused(doing, error)),
    };
    let error = match handle.consumer_info(durable.name).await {
        Ok(found) => {
            let config = durable.config(bus.prefix(), found.config.deliver_policy);
            return Ok(Consumer::new(config, found, bus.questions().clone()));
        }
        Err(error) => error,
    };
    if error.kind() == ConsumerInfoErrorKind::StreamNotFound {
        return Err(JetStreamError::NoStream { stream });
    }
    if error.kind() != ConsumerInfoErrorKind::NotFound {
        return Err(JetStreamError::unavailable(doing, error));
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
    if error.kind() == ConsumerCreateStrictErrorKind::AlreadyExists {
        // Another process was faster.
        let found = handle.get_consumer(durable.name).await;
        return found.map_err(|cause| JetStreamError::unavailable(doing, cause));
    }
    let answer =
        if let ConsumerCreateStrictErrorKind::JetStream(answer) = error.kind() { Some(answer) } else { None };
    Err(failed(doing, answer, error))
}

/// Makes a consumer that is on the server agree with the list. Where it began cannot be changed afterwards.
async fn update(bus: &Bus, durable: &Durable) -> Result<(), JetStreamError> {
    let found = find_or_make(bus, durable, 0).await?;
    let info = found.cached_info();
    let config = durable.config(bus.prefix(), info.config.deliver_policy);
    let updated = bus.questions().update_consumer_on_stream(config, &info.stream_name).await;
    updated.map(drop).map_err(|error| {
        let answer =
            if let ConsumerUpdateErrorKind::JetStream(answer) = error.kind() { Some(answer) } else { None };
        failed(format!("updating the consumer {} of {}", durable.name, info.stream_name), answer, error)
    })
}

/// A named consumer without acknowledgements that vanishes with its reader.
pub(crate) async fn make_reader(
    bus: &Bus,
    stream: &Stream,
    config: pull::Config,
) -> Result<Consumer<pull::Config>, JetStreamError> {
    let stream = stream_name(bus, stream);
    let made = bus.questions().create_consumer_on_stream(config, &stream).await;
    made.map_err(|error| {
        let answer =
            if let ConsumerErrorKind::JetStream(answer) = error.kind() { Some(answer) } else { None };
        failed(format!("making a reader of {stream}"), answer, error)
    })
}

/// A server that is not ready, or silent, may be asked again; one that says no may not.
fn failed(doing: String, answer: Option<Answer>, cause: impl Into<Cause>) -> JetStreamError {
    match answer {
        Some(answer) if answer.code() != NOT_READY => JetStreamError::refused(doing, cause),
        Some(_) | None => JetStreamError::unavailable(doing, cause),
    }
}
