//! What a turn is, and what its steps give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Digest;
use crate::ids::{AgentId, AgentVersionId, CallId, ConversationId, MessageId, TurnId, UserId};
use crate::key_limits::KeyLimits;
use crate::policy::Mode;
use crate::role::Role;

/// Limits that a turn stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens of all model calls together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Model calls: 1 to 500.
    pub max_steps: u32,
    /// Tool calls: up to 1,000.
    pub max_tool_calls: u32,
    /// Seconds from start to end, waiting for people included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall_seconds: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_tokens: None, max_steps: 50, max_tool_calls: 200, max_wall_seconds: None }
    }
}

/// Tokens of model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

impl Usage {
    /// Both together.
    pub fn total(self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    pub(super) fn add(&mut self, more: Self) {
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
    }
}

/// What a turn is, fixed when it is requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSpec {
    /// The turn.
    pub turn_id: TurnId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The person's message.
    pub user_message_id: MessageId,
    /// The message that holds the answer.
    pub assistant_message_id: MessageId,
    /// The agent that answers.
    pub agent_id: AgentId,
    /// The version of it that this turn runs with.
    pub agent_version_id: AgentVersionId,
    /// The model; none for the runtime's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Limits.
    pub budget: Budget,
    /// Whether it begins by acting or by planning.
    #[serde(default, skip_serializing_if = "Mode::is_act")]
    pub mode: Mode,
    /// By whose authority it acts.
    pub requested_by: UserId,
    /// That person's role.
    pub role: Role,
    /// The limits of the key with which it was started.
    #[serde(default, skip_serializing_if = "KeyLimits::is_unlimited")]
    pub limits: KeyLimits,
    /// Digest of the request, to tell a repeat from another request under the same key.
    pub request_digest: Digest,
}

/// A tool call as the model asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCall {
    /// The call.
    pub call_id: CallId,
    /// The tool's name on the wire.
    pub name: String,
    /// The provider's own identifier for it.
    pub provider_call_id: String,
}

/// What a model call gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResult {
    /// The answer's text.
    pub text: String,
    /// The model's reasoning, kept apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StepCall>,
    /// Why it stopped, in the provider's word.
    pub finish: String,
    /// The model that answered.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
}

/// Why a model call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFailure {
    /// Stable, such as `model_stream_cut`.
    pub code: String,
    /// What was wrong and what to do.
    pub message: String,
    /// Whether another try can help.
    pub retryable: bool,
    /// The answer as far as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The reasoning as far as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
}
