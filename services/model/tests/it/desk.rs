//! A provider, a client, and what one asked of the other.

use std::time::Duration;

use oxagen_model::{ApiKey, Completion, Delta, Message, ModelClient, ModelError, ModelSettings, Request};
use oxagen_scripted_model::{Recorded, Reply, Scenario, Script, ScriptedModel};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-canary-1234567890";

pub(crate) struct Desk {
    pub(crate) provider: ScriptedModel,
    pub(crate) settings: ModelSettings,
}

impl Desk {
    /// A provider that gives this reply to everything.
    pub(crate) async fn new(reply: Reply) -> Self {
        let provider = ScriptedModel::start().await.unwrap();
        provider.set_script(Script(vec![Scenario { reply: Some(reply), ..Scenario::default() }]));
        let mut settings = ModelSettings::new(provider.url(), ApiKey::new(KEY));
        settings.read_timeout = Duration::from_secs(20);
        Self { provider, settings }
    }

    pub(crate) fn client(&self) -> ModelClient {
        ModelClient::new(self.settings.clone()).unwrap()
    }

    pub(crate) async fn ask(&self) -> Result<Completion, ModelError> {
        self.ask_with(vec![Message::User { text: "hello".into() }]).await
    }

    /// Asks, and checks that the live pieces add up to the answer.
    pub(crate) async fn ask_with(&self, messages: Vec<Message>) -> Result<Completion, ModelError> {
        let (mut text, mut reasoning, mut started) = (String::new(), String::new(), Vec::new());
        let sink = |delta| match delta {
            Delta::Text(piece) => text.push_str(&piece),
            Delta::Reasoning(piece) => reasoning.push_str(&piece),
            Delta::CallStart { id, name, .. } => started.push((id, name)),
            Delta::CallArguments { .. } => {}
        };
        let answer = self.client().complete(&request(messages), sink, &CancellationToken::new()).await;
        match &answer {
            Ok(answer) => {
                assert_eq!((&text, &reasoning), (&answer.text, &answer.reasoning));
                let calls = answer.calls.iter().map(|call| (call.id.clone(), call.name.clone()));
                assert_eq!(started, calls.collect::<Vec<_>>());
            }
            Err(error) => {
                assert_eq!((&text, &reasoning), (&error.partial.text, &error.partial.reasoning));
                assert!(!format!("{error} {error:?}").contains(KEY));
            }
        }
        answer
    }

    pub(crate) fn last_request(&self) -> Recorded {
        self.provider.requests().pop().unwrap()
    }
}

pub(crate) fn request(messages: Vec<Message>) -> Request {
    Request { model: "scripted".into(), messages, tools: Vec::new(), max_tokens: None }
}

/// The bytes of a stream with these deltas, a finish reason and `[DONE]`.
pub(crate) fn stream(deltas: &[Value], finish: &str) -> String {
    let choice =
        |delta: &Value| json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": ""}]});
    let last = json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
    let events = deltas.iter().map(choice).chain([last]).map(|chunk| format!("data: {chunk}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

/// A delta with one piece of a tool call.
pub(crate) fn piece(piece: Value) -> Value {
    json!({"tool_calls": [piece]})
}
