//! What is asked of a model, free of any provider's spelling.

use serde_json::Value;

/// One request for one model step.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The model's name as its provider knows it.
    pub model: String,
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// The tools the model may call; empty when it may call none.
    pub tools: Vec<ToolSpec>,
    /// The most tokens the answer may have; the provider's own limit when absent.
    pub max_tokens: Option<u32>,
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Matches `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema of the arguments; its root is an object.
    pub parameters: Value,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Standing instructions.
    System {
        /// The instructions.
        text: String,
    },
    /// What a person said.
    User {
        /// The words.
        text: String,
    },
    /// What the model answered earlier.
    Assistant {
        /// The visible answer.
        text: Option<String>,
        /// The reasoning that came with it; echoed or dropped by [`crate::ReasoningEcho`].
        reasoning: Option<String>,
        /// The tools it called.
        calls: Vec<AssistantCall>,
    },
    /// The one result of one call.
    Tool {
        /// The call's id as the assistant message carries it.
        call_id: String,
        /// The result, as text for the model.
        content: String,
    },
}

/// A call inside an earlier assistant message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantCall {
    /// The call's id; its result names the same one.
    pub id: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments as JSON. Anything but a JSON object goes out as `{}`: providers refuse a whole
    /// conversation in which one old call does not parse, and the call's result says what was wrong.
    pub arguments: String,
}
