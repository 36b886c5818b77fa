//! One streamed chunk, read leniently: a field of the wrong type is a field that is not there.

use serde_json::Value;

use crate::Usage;

/// What one chunk says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) pieces: Vec<Piece>,
    /// The provider's word, empty meaning none.
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// The error object or text, when the chunk is one.
    pub(crate) error: Option<Value>,
}

/// A piece of a tool call; absent and empty are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: String,
}

impl Chunk {
    /// Reads a chunk. A whole answer, as sent by providers that do not stream, is one big chunk.
    pub(crate) fn read(value: &Value) -> Self {
        if value.is_string() || value["object"] == "error" {
            return Self { error: Some(value.clone()), ..Self::default() };
        }
        let mut chunk = Self {
            id: filled(&value["id"]),
            model: filled(&value["model"]),
            usage: usage(&value["usage"]),
            error: Some(&value["error"]).filter(|error| !error.is_null()).cloned(),
            ..Self::default()
        };
        let choices = value["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(choice) = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            chunk.read_choice(choice);
        }
        chunk
    }

    fn read_choice(&mut self, choice: &Value) {
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        read_content(&delta["content"], &mut self.text, &mut self.reasoning);
        self.text.push_str(delta["refusal"].as_str().unwrap_or_default());
        self.reasoning.push_str(&reasoning(delta));
        self.pieces = delta["tool_calls"].as_array().into_iter().flatten().map(piece).collect();
        self.finish = choice["finish_reason"].as_str().map(str::to_owned);
        if self.error.is_none() && !choice["error"].is_null() {
            self.error = Some(choice["error"].clone());
        }
    }
}

/// A string that says something.
fn filled(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Content is a string, or a list of parts of which some are thoughts.
fn read_content(content: &Value, text: &mut String, reasoning: &mut String) {
    match content {
        Value::String(piece) => text.push_str(piece),
        Value::Array(parts) => {
            for part in parts {
                text.push_str(part["text"].as_str().unwrap_or_default());
                for thought in part["thinking"].as_array().into_iter().flatten() {
                    reasoning.push_str(thought["text"].as_str().unwrap_or_default());
                }
                reasoning.push_str(part["thinking"].as_str().unwrap_or_default());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// Some providers send the same thought under two names, so the first name that says something wins.
fn reasoning(delta: &Value) -> String {
    if let Some(text) = filled(&delta["reasoning_content"]).or_else(|| filled(&delta["reasoning"])) {
        return text;
    }
    let details = delta["reasoning_details"].as_array().into_iter().flatten();
    details.filter_map(|detail| detail["text"].as_str().or(detail["summary"].as_str())).collect()
}

fn piece(call: &Value) -> Piece {
    let function = &call["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        whole @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_)) => whole.to_string(),
    };
    Piece {
        index: call["index"].as_u64(),
        id: filled(&call["id"]),
        name: filled(&function["name"]),
        arguments,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    value.as_object()?;
    let input_tokens = count(&value["prompt_tokens"]).unwrap_or(0);
    let output_tokens = count(&value["completion_tokens"]).unwrap_or(0);
    Some(Usage {
        input_tokens,
        output_tokens,
        total_tokens: count(&value["total_tokens"]).unwrap_or(input_tokens.saturating_add(output_tokens)),
        cached_tokens: count(&value["prompt_tokens_details"]["cached_tokens"]),
        reasoning_tokens: count(&value["completion_tokens_details"]["reasoning_tokens"]),
    })
}

/// Some providers count in floating point.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_types_are_as_if_absent() {
        let odd = json!({"id": 7, "model": null, "usage": null, "error": null, "choices": [
            {"index": 0, "finish_reason": null, "delta": {"content": null, "tool_calls": null, "reasoning": {}}}]});
        assert_eq!(Chunk::read(&odd), Chunk::default());
        for nothing in [json!(null), json!([]), json!({}), json!({"choices": []}), json!({"choices": [null]})]
        {
            assert_eq!(Chunk::read(&nothing), Chunk::default());
        }
    }

    #[test]
    fn a_thought_sent_under_two_names_is_kept_once() {
        let twice = json!({"choices": [{"delta": {
            "reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}}]});
        assert_eq!(Chunk::read(&twice).reasoning, "hm");
    }

    #[test]
    fn parts_of_content_are_told_apart() {
        let parts = json!({"choices": [{"delta": {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]}}]});
        let chunk = Chunk::read(&parts);
        assert_eq!((chunk.text.as_str(), chunk.reasoning.as_str()), ("yes", "hm"));
    }

    #[test]
    fn a_whole_answer_is_one_chunk() {
        let whole = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3.0, "completion_tokens": 1}});
        let chunk = Chunk::read(&whole);
        assert_eq!(chunk.text, "hi");
        assert_eq!(chunk.usage.map(|usage| usage.total_tokens), Some(4));
    }
}
