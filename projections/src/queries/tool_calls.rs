//! Tool calls. Fed by `execution.tool_calls`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::{
    ApprovalId, CallId, ConversationId, ExecutionId, MessageId, Scope, StepId, ToolVersionId, TurnId, UserId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Queries, bounded, one, rows};
use crate::error::QueryError;

/// A tool call as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct ToolCallRow {
    /// The call.
    pub call_id: CallId,
    /// The conversation, for a call in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The message that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The execution.
    pub execution_id: ExecutionId,
    /// The step of it.
    pub execution_step_id: StepId,
    /// What was called.
    pub capability: String,
    /// The tool's version.
    pub tool_version_id: ToolVersionId,
    /// Where it came from: `api` or `agent`.
    pub origin: String,
    /// `read`, `write` or `external`.
    pub effect: String,
    /// `low`, `medium` or `high`.
    pub risk_level: String,
    /// How it stands.
    pub status: String,
    /// The last attempt; 0 before the first.
    pub attempt: u32,
    /// With what: whole, or the beginning of a body kept as an object.
    pub input: Value,
    /// Digest of the object that holds the whole input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_ref: Option<String>,
    /// Digest of the input's canonical form.
    pub input_digest: String,
    /// The result: whole, or the beginning of a body kept as an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Digest of the object that holds the whole result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_ref: Option<String>,
    /// `{code, message, flaws?}` of a call that did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The policy rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_rule: Option<String>,
    /// Whether a person was asked.
    pub required_approval: bool,
    /// The approval asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// By whose authority.
    pub requested_by: UserId,
    /// When it was requested.
    pub requested_at: DateTime<Utc>,
    /// When the last attempt started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// Milliseconds from the last attempt's start to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// `seq` of its last fact.
    pub sequence: u64,
}

const CALL: &str = "
select to_jsonb(r) from (
  select id as call_id, conversation_id, message_id, turn_id, execution_id, execution_step_id, capability,
    tool_version_id, origin, effect, risk_level, status, coalesce(attempt, 0) as attempt, input, input_ref,
    input_digest, output, output_ref, error, policy_rule, coalesce(required_approval, false) as required_approval,
    approval_id, requested_by, requested_at, started_at, finished_at, latency_ms, sequence
  from execution.tool_calls where id = $1 and capability is not null) r";

impl Queries {
    /// A tool call; `None` if the workspace has none with this id, or not yet.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn tool_call(&self, scope: Scope, id: CallId) -> Result<Option<ToolCallRow>, QueryError> {
        bounded(async { one(&mut self.inside(scope).await?, rows(CALL).bind(id.0)).await }).await
    }
}
