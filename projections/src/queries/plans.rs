//! The plans that agents put to people. Fed by `agent.plans` and `agent.plan_steps`; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::plan::{PlanStatus, StepStatus};
use oxagen_domain::{CallId, ConversationId, PlanId, Scope, TurnId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Queries, all, bounded, rows};
use crate::error::QueryError;
use crate::page::{Page, Paged};

/// A plan as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct PlanRow {
    /// The plan.
    pub plan_id: PlanId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The turn that it is for.
    pub turn_id: TurnId,
    /// The call that made it.
    pub call_id: CallId,
    /// Its title.
    pub title: String,
    /// Why so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The version that counts.
    pub version: u32,
    /// Where it stands.
    pub status: PlanStatus,
    /// The steps of that version, in their order.
    pub steps: Vec<PlanStepRow>,
    /// For whom.
    pub requested_by: UserId,
    /// When it was proposed.
    pub proposed_at: DateTime<Utc>,
    /// When the version that counts closes by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// How many people must approve it.
    pub needed: u32,
    /// How many have.
    pub given: u32,
    /// When it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<DateTime<Utc>>,
    /// Who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<UserId>,
    /// In their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A step of a plan and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct PlanStepRow {
    /// Its name in the plan.
    pub id: String,
    /// What is done.
    pub summary: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The capability that it will call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The exact arguments of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Steps that must be done before it.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// What has become of it.
    pub status: StepStatus,
    /// The call that carries it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
}

const LIST: &str = "
select to_jsonb(r) from (
  select id as plan_id, conversation_id, turn_id, call_id, title, rationale, version, status, requested_by,
    proposed_at, expires_at, coalesce(needed, 1) as needed,
    case when status = 'approved' then coalesce(needed, 1) else coalesce(given, 0) end as given,
    resolved_at, resolved_by_user_id as resolved_by, note,
    (select coalesce(jsonb_agg(jsonb_build_object('id', s.step_id, 'summary', s.summary,
        'intent', nullif(s.intent, ''), 'capability', s.capability, 'input', s.input,
        'depends_on', coalesce(s.depends_on, '[]'), 'status', s.status, 'call_id', s.call_id) order by s.position), '[]')
      from agent.plan_steps s where s.plan_id = p.id and s.version = p.version and s.position is not null) as steps
  from agent.plans p
  where proposed_at is not null and (status = 'proposed' or not $1::boolean)
    and ($2::timestamptz is null or (proposed_at, id) < ($2, $3))
  order by proposed_at desc, id desc limit $4) r";

impl Queries {
    /// The workspace's plans, newest first; only those that want an answer if `open_only`.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn plans(
        &self,
        scope: Scope,
        open_only: bool,
        page: Page,
    ) -> Result<Paged<PlanRow>, QueryError> {
        let (time, id) = page.after()?;
        let query = rows::<PlanRow>(LIST).bind(open_only).bind(time).bind(id).bind(page.rows()?);
        let items = bounded(async { all(&mut self.inside(scope).await?, query).await }).await?;
        Ok(page.of(items, |row| (row.proposed_at, row.plan_id.0)))
    }
}
