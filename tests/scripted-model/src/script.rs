//! The script: what to answer to which request. `README.md` explains it by example.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const BUILTIN: &str = include_str!("builtin.json");

/// Scenarios in order; the first that matches answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Script(pub Vec<Scenario>);

impl Script {
    /// A small friendly assistant that can run one computation and list its tools.
    pub fn builtin() -> anyhow::Result<Self> {
        serde_json::from_str(BUILTIN).context("the built-in script is broken")
    }
}

/// Answers to the requests it matches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Scenario {
    /// Shown in the recorded requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All given conditions must hold; without any it matches everything.
    pub r#match: Match,
    /// The answer to the turn's first request, to its second, and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Reply>,
    /// One answer for every matching request, where `replies` has none for its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
}

/// Conditions on a request. Texts are compared with upper and lower case told apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Match {
    /// The last user message contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contains: Option<OneOrMany>,
    /// Any message contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_contains: Option<OneOrMany>,
    /// The last message has this role: `system`, `user`, `assistant` or `tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_role: Option<String>,
    /// So many assistant messages follow the last user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_step: Option<usize>,
    /// The last tool result contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_contains: Option<OneOrMany>,
    /// The last tool result is JSON with this field, at any depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_has: Option<String>,
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// One text or several alternatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One text.
    One(String),
    /// Any of these.
    Many(Vec<String>),
}

impl OneOrMany {
    /// Whether the text contains one of them.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::One(part) => text.contains(part),
            Self::Many(parts) => parts.iter().any(|part| text.contains(part)),
        }
    }
}

impl From<&str> for OneOrMany {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

/// One answer. Texts and arguments may hold `{{…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Reply {
    /// The visible answer.
    pub text: String,
    /// Reasoning, sent before the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The field for the reasoning: `reasoning_content`, `reasoning` or `reasoning_details`.
    pub reasoning_field: String,
    /// Tool calls, sent after the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Characters in a chunk.
    pub chunk_size: usize,
    /// Milliseconds to wait before each chunk.
    pub delay_ms: u64,
    /// Milliseconds to fall silent once, after `stallAfter` chunks.
    pub stall_ms: u64,
    /// Chunks before the silence.
    pub stall_after: usize,
    /// Chunks before it waits until its scenario is let go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_after: Option<usize>,
    /// The finish reason; `tool_calls` or `stop` by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The usage object; counted roughly by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// Another status than 200, answered with `body` and `headers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body for `status`: a string goes out as plain text, anything else as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// More response headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Breaks the answer off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// Bytes to send instead of chunks, exactly as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Vec<Slice>>,
    /// Splits everything into writes of so many bytes; 0 leaves it as it is.
    pub bytes_per_write: usize,
    /// Answers for the first identical requests, before this one is given: failures that pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Reply>,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            reasoning_field: "reasoning_content".to_owned(),
            calls: Vec::new(),
            chunk_size: 12,
            delay_ms: 0,
            stall_ms: 0,
            stall_after: 0,
            hold_after: None,
            finish: None,
            usage: None,
            status: None,
            body: None,
            headers: BTreeMap::new(),
            cut: None,
            raw: None,
            bytes_per_write: 0,
            first: Vec::new(),
        }
    }
}

impl Reply {
    /// An answer that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer of these bytes.
    pub fn raw(text: impl Into<String>) -> Self {
        Self { raw: Some(vec![Slice { text: Some(text.into()), ..Slice::default() }]), ..Self::default() }
    }
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// The tool's name on the wire.
    pub name: String,
    /// An object, or a string that is sent as it is, valid or not.
    #[serde(default)]
    pub arguments: Value,
    /// The call's id; made from the request when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An early end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cut {
    /// Chunks sent before it, the opening one with the role among them.
    pub after: usize,
    /// The last event's data, sent as JSON just before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// How the connection ends.
    pub how: CutHow,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CutHow {
    /// The body ends as if it were whole.
    #[default]
    Close,
    /// The connection breaks inside the body.
    Reset,
}

/// Bytes that go out in one write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Slice {
    /// The bytes as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base64, where they are no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Milliseconds to wait before.
    pub delay_ms: u64,
}
