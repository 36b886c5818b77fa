//! Tool calls. Fed by `execution.tool_calls`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::{
    ApprovalId, CallId, ConversationId, ExecutionId, MessageId, PlanId, Scope, StepId, ToolVersionId, TurnId,
    UserId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Queries, all, bounded, one, rows};
use crate::error::QueryError;
use crate::page::{Page, Paged};

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
    /// The arguments as they were asked for, if a person put others in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_input: Option<Value>,
    /// The plan that it carries out a step of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// The step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_step: Option<String>,
    /// As what a person settled it: `done`, `not_done` or `run_again`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_as: Option<String>,
    /// Who.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
    /// `seq` of its last fact.
    pub sequence: u64,
}

/// The columns of a row. What was asked for is told apart only where a person changed it.
const COLUMNS: &str = "id as call_id, conversation_id, message_id, turn_id, execution_id, execution_step_id, capability,
    tool_version_id, origin, effect, risk_level, status, coalesce(attempt, 0) as attempt, input, input_ref,
    input_digest, output, output_ref, error, policy_rule, coalesce(required_approval, false) as required_approval,
    approval_id, requested_by, requested_at, started_at, finished_at, latency_ms, sequence,
    case when original_input is distinct from input then original_input end as original_input, plan_id, plan_step,
    settled_as, settled_by";
const IN_ORDER: &str = "order by requested_at desc, id desc";

impl Queries {
    /// A tool call; `None` if the workspace has none with this id, or not yet.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn tool_call(&self, scope: Scope, id: CallId) -> Result<Option<ToolCallRow>, QueryError> {
        let sql = format!(
            "select to_jsonb(r) from (select {COLUMNS} from execution.tool_calls
             where id = $1 and capability is not null) r"
        );
        bounded(async { one(&mut self.inside(scope).await?, rows(&sql).bind(id.0)).await }).await
    }

    /// The workspace's tool calls, newest first; only those that stand so, if `status` is given.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn tool_calls(
        &self,
        scope: Scope,
        status: Option<&str>,
        page: Page,
    ) -> Result<Paged<ToolCallRow>, QueryError> {
        let sql = format!(
            "select to_jsonb(r) from (select {COLUMNS} from execution.tool_calls
             where capability is not null and requested_at is not null and ($1::text is null or status = $1)
               and ($2::timestamptz is null or (requested_at, id) < ($2, $3)) {IN_ORDER} limit $4) r"
        );
        let (time, id) = page.after()?;
        let query = rows::<ToolCallRow>(&sql).bind(status).bind(time).bind(id).bind(page.rows()?);
        let items = bounded(async { all(&mut self.inside(scope).await?, query).await }).await?;
        Ok(page.of(items, |row| (row.requested_at, row.call_id.0)))
    }
}
