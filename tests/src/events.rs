//! A stream of server-sent events, read as a screen would.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use tokio::time::timeout;

use crate::wait::PATIENCE;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct SseEvent {
    /// Its name.
    pub name: String,
    /// Its id: the `seq` of the fact that it shows; live frames have none.
    pub id: Option<u64>,
    /// Its data.
    pub data: Value,
}

/// The names of these events.
pub fn names(events: &[SseEvent]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

/// An open stream.
pub struct EventStream {
    bytes: BoxStream<'static, Result<Vec<u8>, reqwest::Error>>,
    buffer: String,
    ready: VecDeque<SseEvent>,
    /// Everything that came so far.
    pub seen: Vec<SseEvent>,
}

impl EventStream {
    /// Reads this answer, which must be a stream.
    pub(crate) fn of(response: reqwest::Response) -> Self {
        assert_eq!(response.status(), 200, "{} is no stream", response.url());
        let media = response.headers()["content-type"].to_str().unwrap();
        assert!(media.starts_with("text/event-stream"), "{media}");
        let bytes = response.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec())).boxed();
        Self { bytes, buffer: String::new(), ready: VecDeque::new(), seen: Vec::new() }
    }

    /// The next event; none when the stream has ended.
    pub async fn next(&mut self) -> Option<SseEvent> {
        // Signs of life are no events: without a limit of its own this would wait for ever with them.
        let Ok(event) = timeout(PATIENCE, self.read()).await else {
            panic!("no event for {PATIENCE:?}, after {:?}", names(&self.seen));
        };
        event
    }

    async fn read(&mut self) -> Option<SseEvent> {
        let mut raw = Vec::new();
        while self.ready.is_empty() {
            let piece = self.bytes.next().await?;
            // A stream that is cut, as by a killed gateway, has ended.
            raw.extend(piece.ok()?);
            // A piece may end inside a character; the rest comes with the next one.
            let Ok(text) =
                String::from_utf8(std::mem::take(&mut raw)).map_err(|error| raw = error.into_bytes())
            else {
                continue;
            };
            self.buffer += &text;
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                self.ready.extend(parse(&block));
            }
        }
        let event = self.ready.pop_front()?;
        self.seen.push(event.clone());
        Some(event)
    }

    /// Reads on to the next event with this name.
    pub async fn until(&mut self, name: &str) -> SseEvent {
        loop {
            match self.next().await {
                Some(event) if event.name == name => return event,
                Some(_) => {}
                None => panic!("the stream ended without {name}, after {:?}", names(&self.seen)),
            }
        }
    }

    /// Reads to the end of the turn that runs, however it ends.
    pub async fn turn_end(&mut self) -> SseEvent {
        loop {
            match self.next().await {
                Some(event)
                    if matches!(event.name.as_str(), "turn-completed" | "turn-failed" | "turn-cancelled") =>
                {
                    return event;
                }
                Some(_) => {}
                None => panic!("the stream ended before the turn, after {:?}", names(&self.seen)),
            }
        }
    }

    /// Reads to the end of the stream.
    pub async fn rest(&mut self) -> Vec<SseEvent> {
        let from = self.seen.len();
        while self.next().await.is_some() {}
        self.seen[from..].to_vec()
    }

    /// What came so far with this name.
    pub fn named(&self, name: &str) -> Vec<&SseEvent> {
        self.seen.iter().filter(|event| event.name == name).collect()
    }

    /// The ids so far: of facts alone, in the order in which they came.
    pub fn ids(&self) -> Vec<u64> {
        self.seen.iter().filter_map(|event| event.id).collect()
    }
}

fn parse(block: &str) -> Option<SseEvent> {
    let (mut name, mut id, mut data) = ("message".to_owned(), None, Vec::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "id" => id = Some(value.parse().unwrap_or_else(|_| panic!("the id {value} is no seq"))),
            "data" => data.push(value),
            // A comment, or a field for browsers.
            _ => {}
        }
    }
    if data.is_empty() {
        return None;
    }
    Some(SseEvent { name, id, data: serde_json::from_str(&data.join("\n")).unwrap() })
}
