//! A reply in the wire format of `/chat/completions`.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use crate::{Reply, conversation::Conversation, template};

/// A number for the request's content; identical requests have the same one, in every process.
pub(crate) fn fingerprint(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body["messages"].to_string().hash(&mut hasher);
    hasher.finish()
}

/// A reply to one request, its texts filled in.
pub(crate) struct Rendered<'a> {
    body: &'a Value,
    reply: &'a Reply,
    id: u64,
    text: String,
    reasoning: String,
    /// (id, name, arguments) of each call.
    calls: Vec<(String, &'a str, String)>,
}

impl<'a> Rendered<'a> {
    pub(crate) fn new(reply: &'a Reply, body: &'a Value) -> Self {
        let conversation = Conversation::of(body);
        let id = fingerprint(body);
        let calls = reply.calls.iter().enumerate().map(|(at, call)| {
            let arguments = match template::fill_json(&call.arguments, conversation) {
                Value::String(text) => text,
                Value::Null => "{}".to_owned(),
                value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    value.to_string()
                }
            };
            let call_id = call.id.clone().unwrap_or_else(|| format!("call_{id:016x}_{at}"));
            (call_id, call.name.as_str(), arguments)
        });
        Self {
            id,
            text: template::fill(&reply.text, conversation),
            reasoning: template::fill(&reply.reasoning, conversation),
            calls: calls.collect(),
            body,
            reply,
        }
    }

    /// The chunks of a streamed answer, `[DONE]` not among them.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas.extend(self.pieces(&self.reasoning).map(|piece| self.reasoning(piece)));
        deltas.extend(self.pieces(&self.text).map(|piece| json!({"content": piece})));
        for (at, (id, name, arguments)) in self.calls.iter().enumerate() {
            let opener = json!({"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
            deltas.push(json!({"tool_calls": [opener]}));
            let piece = |text| json!({"tool_calls": [{"index": at, "function": {"arguments": text}}]});
            deltas.extend(self.pieces(arguments).map(piece));
        }
        let mut chunks: Vec<Value> = deltas
            .into_iter()
            .map(|delta| self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
            .collect();
        chunks.push(self.chunk(json!([{"index": 0, "delta": {}, "finish_reason": self.finish()}])));
        if self.body["stream_options"]["include_usage"] == true {
            let mut last = self.chunk(json!([]));
            last["usage"] = self.usage();
            chunks.push(last);
        }
        chunks
    }

    /// The answer to a request that does not stream.
    pub(crate) fn whole(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.reasoning.is_empty() {
            let field = self.reasoning(&self.reasoning);
            message[&self.reply.reasoning_field] = field[&self.reply.reasoning_field].clone();
        }
        if !self.calls.is_empty() {
            let call = |(id, name, arguments): &(String, &str, String)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        let mut whole = self.chunk(json!([{"index": 0, "message": message, "finish_reason": self.finish()}]));
        whole["object"] = json!("chat.completion");
        whole["usage"] = self.usage();
        whole
    }

    fn chunk(&self, choices: Value) -> Value {
        let id = format!("chatcmpl-{:016x}", self.id);
        let model = &self.body["model"];
        json!({"id": id, "object": "chat.completion.chunk", "created": created(), "model": model, "choices": choices})
    }

    fn reasoning(&self, piece: &str) -> Value {
        let field = self.reply.reasoning_field.as_str();
        match field {
            "reasoning_details" => json!({field: [{"type": "reasoning.text", "text": piece}]}),
            _ => json!({field: piece}),
        }
    }

    fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let (size, mut rest) = (self.reply.chunk_size.max(1), text);
        std::iter::from_fn(move || {
            let end = rest.char_indices().nth(size).map_or(rest.len(), |(end, _)| end);
            let (piece, tail) = rest.split_at(end);
            rest = tail;
            (!piece.is_empty()).then_some(piece)
        })
    }

    fn finish(&self) -> &str {
        let by_itself = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        self.reply.finish.as_deref().unwrap_or(by_itself)
    }

    /// About four characters a token, so that the same conversation always costs the same.
    fn usage(&self) -> Value {
        if let Some(usage) = &self.reply.usage {
            return usage.clone();
        }
        let tokens = |characters: usize| characters.div_ceil(4);
        let prompt = tokens(self.body["messages"].to_string().len());
        let arguments: usize =
            self.calls.iter().map(|(_, name, arguments)| name.len() + arguments.len()).sum();
        let completion = tokens(self.text.len() + self.reasoning.len() + arguments);
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
    }
}

/// Seconds since 1970.
fn created() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |elapsed| elapsed.as_secs())
}
