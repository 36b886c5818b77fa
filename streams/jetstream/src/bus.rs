//! The connection to NATS that everything else in this crate shares.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::{Client, ConnectOptions, Event};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{debug, info, warn};

use crate::backoff;
use crate::error::JetStreamError;

/// The longest wait for an answer of the server.
const ANSWER: Duration = Duration::from_secs(5);
/// The longest wait for what JetStream says about a stream or a consumer. Short: while a cluster elects a leader nobody
/// answers, and whoever asks again then is not answered late, but the next time.
const WORD: Duration = Duration::from_secs(2);
/// The longest wait of a health check.
const HEALTH: Duration = Duration::from_secs(2);
/// A connection that answers no ping of this interval is given up after the second one.
const PING: Duration = Duration::from_secs(5);

/// How to reach NATS.
#[derive(Clone, Debug, Default)]
pub struct NatsOptions {
    /// Addresses with commas between the nodes of a cluster, such as `nats://127.0.0.1:4222`.
    pub urls: String,
    /// The name under which the server lists this connection.
    pub name: String,
    /// Goes before every stream name and subject, so that several installations can share a server.
    /// Letters, digits, `_` and `-`; usually empty.
    pub prefix: String,
}

/// A connection to NATS with JetStream. Cheap to clone; it reconnects for ever by itself.
#[derive(Clone, Debug)]
pub struct Bus {
    client: Client,
    context: Context,
    questions: Context,
    prefix: Arc<str>,
    connections: watch::Receiver<u64>,
}

/// Connects to NATS.
///
/// # Errors
/// [`JetStreamError::Connect`] when no server answers (the caller decides whether to try again),
/// [`JetStreamError::BadPrefix`] for a prefix that cannot be part of a stream's name.
pub async fn connect(options: &NatsOptions) -> Result<Bus, JetStreamError> {
    let prefix = options.prefix.as_str();
    if !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(JetStreamError::BadPrefix { prefix: prefix.to_owned() });
    }
    let (connected, mut connections) = watch::channel(0_u64);
    let urls: Vec<&str> = options.urls.split(',').map(str::trim).filter(|url| !url.is_empty()).collect();
    let client = ConnectOptions::new()
        .name(&options.name)
        .max_reconnects(None)
        .reconnect_delay_callback(backoff::delay)
        .connection_timeout(ANSWER)
        .request_timeout(Some(ANSWER))
        .ping_interval(PING)
        .event_callback(move |event| {
            log(&event);
            if matches!(event, Event::Connected) {
                connected.send_modify(|count| *count += 1);
            }
            ready(())
        })
        .connect(urls.as_slice())
        .await
        .map_err(|cause| JetStreamError::Connect { urls: without_credentials(&urls), cause: cause.into() })?;
    // The first connection is counted before anybody watches for the second one.
    if timeout(HEALTH, connections.wait_for(|count| *count > 0)).await.is_err() {
        debug!("the first connection to NATS was not reported");
    }
    let context = ContextBuilder::new().timeout(ANSWER).build(client.clone());
    let questions = ContextBuilder::new().timeout(WORD).build(client.clone());
    Ok(Bus { client, context, questions, prefix: prefix.into(), connections })
}

impl Bus {
    /// Whether the connection stands at this moment.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Asks JetStream for a sign of life; waits at most two seconds.
    ///
    /// # Errors
    /// [`JetStreamError::Unavailable`] when none comes.
    pub async fn ping(&self) -> Result<(), JetStreamError> {
        match timeout(HEALTH, self.context.query_account()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(cause)) => Err(JetStreamError::unavailable("asking for JetStream's state", cause)),
            Err(elapsed) => Err(JetStreamError::unavailable("asking for JetStream's state", elapsed)),
        }
    }

    /// What goes before every stream name and subject.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// For publishing.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// For looking at streams and consumers, and for changing them.
    pub(crate) fn questions(&self) -> &Context {
        &self.questions
    }

    /// Changes whenever a connection has been made again. A pull request or an acknowledgement that was
    /// under way before is lost, so whoever waits for one watches this instead of waiting for a timeout.
    pub(crate) fn connections(&self) -> watch::Receiver<u64> {
        let mut connections = self.connections.clone();
        connections.mark_unchanged();
        connections
    }
}

fn log(event: &Event) {
    match event {
        Event::Connected => info!("connected to NATS"),
        Event::Disconnected => warn!("lost the connection to NATS, reconnecting"),
        Event::LameDuckMode => info!("a NATS server is about to stop, moving on"),
        Event::Draining | Event::Closed => info!(%event, "the connection to NATS ends"),
        Event::SlowConsumer(_) => warn!(%event, "messages were dropped before they were read"),
        Event::ServerError(_) | Event::ClientError(_) => warn!(%event, "NATS reported an error"),
    }
}

fn without_credentials(urls: &[&str]) -> String {
    let shown: Vec<&str> = urls.iter().map(|url| url.rsplit('@').next().unwrap_or(url)).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_shown() {
        assert_eq!(
            without_credentials(&["nats://user:secret@a:4222", "nats://b:4222"]),
            "a:4222, nats://b:4222"
        );
    }
}
