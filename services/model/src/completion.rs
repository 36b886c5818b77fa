//! What comes back from a model: live pieces, then one whole answer.

use serde_json::{Map, Value};

/// A piece of an answer on its way to a screen; never the truth, which is the [`Completion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More of the visible answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// A call has a name; its arguments follow.
    CallStart {
        /// The call's place in the answer, from 0.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool's name on the wire.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// The call's place in the answer, from 0.
        index: usize,
        /// The piece, not JSON by itself.
        text: String,
    },
}

/// One whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The visible answer; empty when the model only called tools.
    pub text: String,
    /// The reasoning, kept apart from the answer.
    pub reasoning: String,
    /// The calls, in the order the model opened them. A call runs only when its arguments are
    /// [`Arguments::Object`]; no call of an answer that was cut off has them.
    pub calls: Vec<Call>,
    /// Why the model stopped.
    pub finish: Finish,
    /// What it cost; zeros when the provider did not say.
    pub usage: Usage,
    /// The model that answered, when the provider names it.
    pub model: Option<String>,
}

/// A tool call, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Unique within the answer; made up where the provider gave none.
    pub id: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments, or why there are none.
    pub arguments: Arguments,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// A JSON object; `{}` where the model sent nothing.
    Object(Map<String, Value>),
    /// Not usable: the call must not run and its result tells the model the reason.
    Invalid {
        /// What the model sent.
        raw: String,
        /// One sentence for the model.
        reason: String,
    },
}

impl Arguments {
    /// The arguments as they go back to the model: always one valid JSON object.
    pub fn to_json(&self) -> String {
        match self {
            Self::Object(object) => Value::Object(object.clone()).to_string(),
            Self::Invalid { .. } => "{}".to_owned(),
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It wants tools run. Without any call this is the end of the turn.
    ToolCalls,
    /// It ran into its token limit: text is incomplete, no call runs.
    Length,
    /// The provider's filter cut it: no call runs.
    ContentFilter,
    /// A reason we do not know.
    Other(String),
    /// The provider ended the stream properly without giving a reason.
    Missing,
}

impl Finish {
    /// Reads a provider's word; empty means none was given.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "" => None,
            "stop" => Some(Self::Stop),
            "tool_calls" | "function_call" => Some(Self::ToolCalls),
            "length" => Some(Self::Length),
            "content_filter" => Some(Self::ContentFilter),
            other => Some(Self::Other(other.to_owned())),
        }
    }

    /// The word that is stored and shown.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Other(word) => word,
            Self::Missing => "missing",
        }
    }
}

/// Tokens used by one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// The provider's total, or the sum.
    pub total_tokens: u64,
    /// Those read from the provider's cache, when it says.
    pub cached_tokens: Option<u64>,
    /// Those spent on reasoning, when it says.
    pub reasoning_tokens: Option<u64>,
}
