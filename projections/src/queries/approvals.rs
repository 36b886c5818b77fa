//! The approval inbox. Fed by `agent.approval_requests`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::{ApprovalId, CallId, ConversationId, Scope, StepId, TurnId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Queries, all, bounded, rows};
use crate::error::QueryError;
use crate::page::{Page, Paged};

/// An approval as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct ApprovalRow {
    /// The approval.
    pub approval_id: ApprovalId,
    /// The held call.
    pub call_id: CallId,
    /// The step that the call belongs to.
    pub execution_step_id: StepId,
    /// The conversation, for a call in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// What would be called.
    pub capability: String,
    /// With what.
    pub input: Value,
    /// Digest of the input's canonical form.
    pub input_digest: String,
    /// `low`, `medium` or `high`.
    pub risk: String,
    /// The rule that asks.
    pub policy_rule: String,
    /// `open`, `approved`, `denied`, `expired` or `superseded`.
    pub status: String,
    /// Who caused the call.
    pub requested_by: UserId,
    /// When it was asked.
    pub requested_at: DateTime<Utc>,
    /// When it closes by itself.
    pub expires_at: DateTime<Utc>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<DateTime<Utc>>,
    /// Who closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<UserId>,
    /// In their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many people must approve.
    pub needed: u32,
    /// How many have, while more are needed.
    pub given: u32,
    /// How often its turn has asked for the very same call before, in vain.
    pub asked_before: u32,
    /// What it runs with instead of `input`, if a person edited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_input: Option<Value>,
    /// `seq` of its last fact.
    pub sequence: u64,
}

const LIST: &str = "
select to_jsonb(r) from (
  select id as approval_id, tool_call_id as call_id, execution_step_id, conversation_id, turn_id, capability, input,
    input_digest, risk_level as risk, policy_rule, coalesce(resolution, 'open') as status, requested_by, requested_at,
    expires_at, resolved_at, resolved_by_user_id as resolved_by, note, reason, coalesce(needed, 1) as needed,
    coalesce(given, 0) as given, coalesce(asked_before, 0) as asked_before, edited_input, sequence
  from agent.approval_requests
  where expires_at is not null and (resolved_at is null or not $1::boolean)
    and ($2::timestamptz is null or (expires_at, id) > ($2, $3))
  order by expires_at, id limit $4) r";

const OPEN: &str = "
select count(*) from agent.approval_requests where resolved_at is null and requested_at is not null";

impl Queries {
    /// How many approvals of the workspace are open.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn open_approvals(&self, scope: Scope) -> Result<u32, QueryError> {
        let count = sqlx::query_scalar::<_, i64>(OPEN);
        let open = bounded(async { Ok(count.fetch_one(&mut *self.inside(scope).await?).await?) }).await?;
        Ok(u32::try_from(open).unwrap_or(u32::MAX))
    }

    /// The workspace's approvals, soonest expiry first; only those that wait for an answer if `open_only`.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn approvals(
        &self,
        scope: Scope,
        open_only: bool,
        page: Page,
    ) -> Result<Paged<ApprovalRow>, QueryError> {
        let (time, id) = page.after()?;
        let query = rows::<ApprovalRow>(LIST).bind(open_only).bind(time).bind(id).bind(page.rows()?);
        let items = bounded(async { all(&mut self.inside(scope).await?, query).await }).await?;
        Ok(page.of(items, |row| (row.expires_at, row.approval_id.0)))
    }
}
