//! A request as `/chat/completions` takes it.

use serde_json::{Map, Value, json};

use crate::{AssistantCall, MaxTokensField, Message, ModelSettings, ReasoningEcho, Request, ToolSpec};

/// The JSON body of a streaming request.
pub(crate) fn body(request: &Request, settings: &ModelSettings) -> Value {
    let messages: Vec<Value> =
        request.messages.iter().map(|message| self::message(message, settings.reasoning_echo)).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), json!(messages));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    // An empty list is refused by some providers.
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    if let Some(limit) = request.max_tokens {
        let field = match settings.max_tokens_field {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.to_owned(), json!(limit));
    }
    Value::Object(body)
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn message(message: &Message, echo: ReasoningEcho) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Tool { call_id, content } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": content})
        }
        Message::Assistant { text, reasoning, calls } => {
            let mut body = Map::new();
            body.insert("role".to_owned(), json!("assistant"));
            // Null is allowed only beside calls.
            let blank = if calls.is_empty() { json!("") } else { Value::Null };
            body.insert("content".to_owned(), text.as_ref().map_or(blank, |text| json!(text)));
            if !calls.is_empty() {
                body.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
            }
            if let (Some(reasoning), Some(field)) = (reasoning, echo_field(echo)) {
                body.insert(field.to_owned(), json!(reasoning));
            }
            Value::Object(body)
        }
    }
}

fn echo_field(echo: ReasoningEcho) -> Option<&'static str> {
    match echo {
        ReasoningEcho::Drop => None,
        ReasoningEcho::ReasoningContent => Some("reasoning_content"),
        ReasoningEcho::Reasoning => Some("reasoning"),
    }
}

fn call(call: &AssistantCall) -> Value {
    let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_calls_always_go_out_as_objects() {
        let sent = |arguments: &str| {
            let call = AssistantCall { id: "c".into(), name: "t".into(), arguments: arguments.into() };
            self::call(&call)["function"]["arguments"].clone()
        };
        assert_eq!(sent(r#"{"a": 1}"#), r#"{"a": 1}"#);
        for bad in ["", "  ", r#"{"a": "#, "[1]", "null", r#"{"a":1}{"b":2}"#] {
            assert_eq!(sent(bad), "{}", "{bad}");
        }
    }
}
