//! What a request says about its conversation.

use serde_json::Value;

/// A view of a request's messages.
#[derive(Clone, Copy)]
pub(crate) struct Conversation<'a>(&'a [Value]);

impl<'a> Conversation<'a> {
    pub(crate) fn of(body: &'a Value) -> Self {
        Self(body["messages"].as_array().map(Vec::as_slice).unwrap_or_default())
    }

    pub(crate) fn last_user(self) -> String {
        self.0.iter().rfind(|message| message["role"] == "user").map(text).unwrap_or_default()
    }

    /// The last tool result of this turn.
    pub(crate) fn last_tool_result(self) -> Option<String> {
        self.turn().iter().rfind(|message| message["role"] == "tool").map(text)
    }

    pub(crate) fn last_role(self) -> Option<&'a str> {
        self.0.last()?["role"].as_str()
    }

    /// Answers of the model since the last user message.
    pub(crate) fn turn_step(self) -> usize {
        self.turn().iter().filter(|message| message["role"] == "assistant").count()
    }

    pub(crate) fn any(self, mut condition: impl FnMut(&str) -> bool) -> bool {
        self.0.iter().any(|message| condition(&text(message)))
    }

    fn turn(self) -> &'a [Value] {
        let user = self.0.iter().rposition(|message| message["role"] == "user");
        &self.0[user.unwrap_or(0)..]
    }
}

/// A message's words, whether its content is a string or a list of parts.
fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
