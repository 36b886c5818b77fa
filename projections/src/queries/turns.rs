//! Turns. Fed by `execution.executions`, `execution_steps` and `tool_calls`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::turn::Usage;
use oxagen_domain::{AgentId, AgentVersionId, CallId, ConversationId, MessageId, Scope, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Queries, all, bounded, one, rows};
use crate::error::QueryError;

/// A turn as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct TurnView {
    /// The turn.
    pub turn_id: TurnId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The person's message.
    pub user_message_id: MessageId,
    /// The message that holds the answer.
    pub message_id: MessageId,
    /// `queued`, `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The agent.
    pub agent_id: AgentId,
    /// Its version.
    pub agent_version_id: AgentVersionId,
    /// The model asked for; none for the runtime's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens so far.
    pub usage: Usage,
    /// `{code, message}` of a failed turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// When it was requested.
    pub requested_at: DateTime<Utc>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// `seq` of its last fact.
    pub sequence: u64,
    /// Its steps, in order.
    #[serde(default)]
    pub steps: Vec<StepView>,
    /// Its calls, in the order of their requests.
    #[serde(default)]
    pub tool_calls: Vec<CallSummary>,
}

/// A step of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct StepView {
    /// From 1.
    pub step: u32,
    /// From 1.
    pub attempt: u32,
    /// `running`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it stopped, in the provider's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// `{code, message}` of a failed attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// When the attempt began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

/// A call of a turn, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct CallSummary {
    /// The call.
    pub call_id: CallId,
    /// What was called.
    pub capability: String,
    /// How it stands.
    pub status: String,
}

const TURN: &str = "
select to_jsonb(r) from (
  select turn_id, conversation_id, user_message_id, message_id, status, agent_id, agent_version_id, model,
    jsonb_build_object('inputTokens', coalesce(input_tokens, 0), 'outputTokens', coalesce(output_tokens, 0)) as usage,
    error, requested_at, started_at, finished_at, sequence
  from execution.executions where id = $1 and kind = 'turn') r";
const STEPS: &str = "
select to_jsonb(r) from (
  select number as step, coalesce(attempt, 1) as attempt, coalesce(status, 'running') as status, model, finish,
    jsonb_build_object('inputTokens', coalesce(input_tokens, 0), 'outputTokens', coalesce(output_tokens, 0)) as usage,
    error, started_at, finished_at
  from execution.execution_steps where execution_id = $1 order by number) r";
const CALLS: &str = "
select to_jsonb(r) from (
  select id as call_id, capability, status
  from execution.tool_calls where execution_id = $1 and capability is not null order by requested_at, id) r";

impl Queries {
    /// A turn; `None` if the workspace has none with this id, or not yet.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn turn(&self, scope: Scope, id: TurnId) -> Result<Option<TurnView>, QueryError> {
        bounded(async {
            let mut transaction = self.inside(scope).await?;
            let Some(turn) = one(&mut transaction, rows::<TurnView>(TURN).bind(id.0)).await? else {
                return Ok(None);
            };
            let steps = all(&mut transaction, rows(STEPS).bind(id.0)).await?;
            let tool_calls = all(&mut transaction, rows(CALLS).bind(id.0)).await?;
            Ok(Some(TurnView { steps, tool_calls, ..turn }))
        })
        .await
    }
}
