//! What the server is told of an event, as text.

use serde_json::Value;

use super::NewEvent;

/// An event's bodies as JSON text.
pub(super) struct Texts {
    pub(super) payload: String,
    pub(super) metadata: String,
}

impl Texts {
    pub(super) fn of(event: &NewEvent) -> Self {
        let metadata = Value::from_iter(event.metadata.to_map());
        Self {
            payload: storable(event.payload.to_string(), &event.payload),
            metadata: storable(metadata.to_string(), &metadata),
        }
    }
}

/// Postgres cannot read a NUL character out of JSON: it becomes U+FFFD, and the commit goes through.
fn storable(text: String, value: &Value) -> String {
    if text.contains("\\u0000") { without_nul(value).to_string() } else { text }
}

fn without_nul(value: &Value) -> Value {
    let clean = |text: &str| text.replace('\0', "\u{FFFD}");
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => items.iter().map(without_nul).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (clean(name), without_nul(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nul_characters_are_replaced_wherever_they_are() {
        let value = json!({"a\0": ["x\0y", {"b": "\0"}], "n": 1});
        assert_eq!(
            storable(value.to_string(), &value),
            "{\"a\u{FFFD}\":[\"x\u{FFFD}y\",{\"b\":\"\u{FFFD}\"}],\"n\":1}"
        );
        let value = json!("a written-out \\u0000 stays");
        assert_eq!(storable(value.to_string(), &value), value.to_string());
    }
}
