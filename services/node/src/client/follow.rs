//! A stream of events that goes on where it was cut.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::Client;
use super::sse::{Decoder, SseEvent};
use crate::failure::Failure;

/// Connections in a row that brought nothing before a stream is given up.
const TRIES: u32 = 8;

/// Silence after which a stream counts as lost; heartbeats come every 15 s.
const SILENCE: Duration = Duration::from_secs(45);

/// An event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Its name, such as `turn-started`.
    pub(crate) name: String,
    /// The fact's `seq`; live frames have none.
    pub(crate) seq: Option<u64>,
    /// What it says.
    pub(crate) data: Value,
}

impl Seen {
    /// A text at the top level of the data, or in the fact's payload.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.field(name).as_str().unwrap_or_default()
    }

    /// A value at the top level of the data, or in the fact's payload.
    pub(crate) fn field(&self, name: &str) -> &Value {
        self.data.get(name).filter(|value| !value.is_null()).unwrap_or_else(|| &self.data["payload"][name])
    }
}

/// Follows one stream; connections that are lost are made again, each event comes once.
pub(crate) struct Follow {
    client: Client,
    path: String,
    query: Vec<(&'static str, String)>,
    after: Option<u64>,
    open: Option<(Response, Decoder)>,
    ready: VecDeque<SseEvent>,
    failures: u32,
}

impl Client {
    /// Follows the events at `path` after `after`; `None` begins where the gateway does.
    pub(crate) fn follow(
        &self,
        path: String,
        query: Vec<(&'static str, String)>,
        after: Option<u64>,
    ) -> Follow {
        Follow { client: self.clone(), path, query, after, open: None, ready: VecDeque::new(), failures: 0 }
    }
}

impl Follow {
    /// The next event. Safe to cancel.
    ///
    /// # Errors
    /// [`Failure::Refused`], or [`Failure::Unreachable`] when the gateway stays away.
    pub(crate) async fn next(&mut self) -> Result<Seen, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                let seq = event.id.as_deref().and_then(|id| id.parse().ok());
                // After a reconnect the gateway may begin a little before.
                if seq.is_some() && seq <= self.after {
                    continue;
                }
                self.after = seq.or(self.after);
                let data = serde_json::from_str(&event.data).unwrap_or(Value::String(event.data));
                return Ok(Seen { name: event.name, seq, data });
            }
            self.read().await?;
        }
    }

    /// The `seq` of the last fact that was given out, or where the stream began.
    pub(crate) fn cursor(&self) -> Option<u64> {
        self.after
    }

    /// Goes on from another place, after a gap.
    pub(crate) fn seek(&mut self, after: u64) {
        (self.after, self.open) = (Some(after), None);
        self.ready.clear();
    }

    async fn read(&mut self) -> Result<(), Failure> {
        let Some((response, decoder)) = &mut self.open else {
            return self.connect().await;
        };
        let failure = match timeout(SILENCE, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let events = decoder.feed(&bytes).map_err(|error| Failure::Failed(error.to_string()))?;
                if !events.is_empty() {
                    self.failures = 0;
                }
                self.ready.extend(events);
                return Ok(());
            }
            Ok(Ok(None)) => Failure::Unreachable("the gateway closes the stream again and again".to_owned()),
            Ok(Err(error)) => self.client.unreachable(&error),
            Err(_) => Failure::Unreachable("the stream is silent again and again".to_owned()),
        };
        self.open = None;
        self.pause(failure).await
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        match self.client.stream(&self.path, &self.query, self.after).await {
            Ok(response) => {
                self.open = Some((response, Decoder::default()));
                Ok(())
            }
            Err(Failure::Refused(problem)) if problem.status == 429 || problem.status >= 500 => {
                self.pause(Failure::Refused(problem)).await
            }
            // A gateway that was never there is told of at once; one that went away may come back.
            Err(Failure::Unreachable(text)) if self.failures > 0 || self.after.is_some() => {
                self.pause(Failure::Unreachable(text)).await
            }
            Err(failure) => Err(failure),
        }
    }

    async fn pause(&mut self, failure: Failure) -> Result<(), Failure> {
        self.failures += 1;
        if self.failures > TRIES {
            return Err(failure);
        }
        sleep(Duration::from_millis(250) * 2_u32.pow(self.failures.min(5))).await;
        Ok(())
    }
}
