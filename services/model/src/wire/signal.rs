//! What one server-sent event means.

use serde_json::{Value, json};

use super::Chunk;
use crate::{ErrorCode, ModelError, sse::Event};

/// The meaning of an event, or of one of its lines.
#[derive(Debug, PartialEq)]
pub(crate) enum Signal {
    /// More of the answer, or an error inside of it.
    Chunk(Chunk),
    /// The provider says that this was all.
    Done,
}

/// Reads an event. Words that are no JSON are an error the provider tries to tell us about.
pub(crate) fn read(event: &Event) -> Result<Vec<Signal>, ModelError> {
    let data = event.data.trim();
    if let Some(mut signals) = json_signals(data) {
        if event.name == "error" {
            signals = vec![Signal::Chunk(error(serde_json::from_str(data).unwrap_or_else(|_| json!(data))))];
        }
        return Ok(signals);
    }
    match event.name.as_str() {
        "error" => Ok(vec![Signal::Chunk(error(json!(data)))]),
        "" | "message" if data.starts_with(['{', '[']) => Err(ModelError::new(
            ErrorCode::Malformed,
            "the model provider sent a chunk that is not valid JSON",
        )),
        "" | "message" => Ok(vec![Signal::Chunk(error(json!(data)))]),
        // Pings and the like.
        _ => Ok(Vec::new()),
    }
}

/// Reads what is left at the end of a stream: it may be a whole event, and counts for nothing if it is not.
pub(crate) fn read_rest(event: &Event) -> Vec<Signal> {
    json_signals(event.data.trim()).unwrap_or_default()
}

/// Usually one JSON; over several `data:` lines it is one JSON too, or (against the standard) one a line.
fn json_signals(data: &str) -> Option<Vec<Signal>> {
    if data.is_empty() {
        return Some(Vec::new());
    }
    one(data)
        .map(|signal| vec![signal])
        .or_else(|| data.lines().map(one).collect())
        .or_else(|| one(&data.replace('\n', "")).map(|signal| vec![signal]))
}

fn one(text: &str) -> Option<Signal> {
    if text.trim() == "[DONE]" {
        return Some(Signal::Done);
    }
    serde_json::from_str::<Value>(text).ok().map(|value| Signal::Chunk(Chunk::read(&value)))
}

/// An `event: error` may hold the error bare or wrapped once more.
fn error(value: Value) -> Chunk {
    let inner = value.get("error").filter(|inner| !inner.is_null()).cloned();
    Chunk { error: Some(inner.unwrap_or(value)), ..Chunk::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, data: &str) -> Result<Vec<Signal>, ModelError> {
        read(&Event { name: name.into(), data: data.into() })
    }

    #[test]
    fn json_over_several_lines_is_read() {
        let text = |signals: Vec<Signal>| -> String {
            signals
                .into_iter()
                .map(|signal| match signal {
                    Signal::Chunk(chunk) => chunk.text,
                    Signal::Done => "|".to_owned(),
                })
                .collect()
        };
        let split = "{\"choices\":[{\"delta\":\n{\"content\":\"a b\"}}]}";
        assert_eq!(text(of("", split).unwrap()), "a b");
        let two = "{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n[DONE]";
        assert_eq!(text(of("", two).unwrap()), "x|");
    }

    #[test]
    fn words_are_errors_and_pings_are_nothing() {
        let error = |signals: Vec<Signal>| match signals.as_slice() {
            [Signal::Chunk(chunk)] => chunk.error.clone(),
            _ => None,
        };
        assert_eq!(error(of("", "upstream overloaded").unwrap()), Some(json!("upstream overloaded")));
        assert_eq!(error(of("", "\"overloaded\"").unwrap()), Some(json!("overloaded")));
        assert_eq!(error(of("error", "{\"error\":{\"code\":500}}").unwrap()), Some(json!({"code": 500})));
        assert_eq!(error(of("error", "{\"message\":\"no\"}").unwrap()), Some(json!({"message": "no"})));
        assert_eq!(of("ping", "now"), Ok(vec![]));
        assert_eq!(of("", "{\"choices\":[").unwrap_err().code, ErrorCode::Malformed);
    }
}
