//! How events are written (WHATWG server-sent events). JSON has no line ends of its own, so one data line is enough.

use bytes::Bytes;
use oxagen_domain::Fact;
use oxagen_jetstream::live::Frame;
use serde_json::Value;

use crate::screen;

/// A comment: a sign of life that no viewer sees.
pub(crate) fn comment(text: &str) -> Bytes {
    Bytes::from(format!(": {text}\n\n"))
}

/// An event without a place in history.
pub(crate) fn named(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// A fact: its `id` is its `seq`.
pub(crate) fn fact(fact: &Fact) -> Bytes {
    let (name, data) = screen::show(fact);
    Bytes::from(format!("id: {}\nevent: {name}\ndata: {data}\n\n", fact.seq))
}

/// A live frame: it has no `id`, as it is in no history.
pub(crate) fn frame(frame: &Frame) -> Bytes {
    // A frame holds only strings and numbers: it always has a JSON form.
    let data = serde_json::to_value(frame).unwrap_or_default();
    named(screen::frame_name(&frame.kind), &data)
}

/// A fact as a line of its own (NDJSON).
pub(crate) fn line(fact: &Fact) -> Bytes {
    let mut line = serde_json::to_vec(fact).unwrap_or_default();
    line.push(b'\n');
    Bytes::from(line)
}
