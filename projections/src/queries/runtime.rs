//! What the runtime asks for itself, across workspaces: what was left lying, what is due, how far projections are.
//! Fed by `execution.executions`, `execution.timers` and `projection.cursors`; read by runner, reactor and node.

use chrono::{DateTime, Utc};
use oxagen_domain::{ApprovalId, CallId, ConversationId, PlanId, Scope, TurnId};
use serde::{Deserialize, Serialize};
use sqlx::{Postgres, Transaction};

use super::{Queries, all, bounded, rows};
use crate::error::QueryError;

/// What an execution is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionKind {
    /// A turn.
    Turn,
    /// A call outside a turn.
    Direct,
}

/// An execution that has not ended, waits for nobody, and has made no progress for a while.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StaleExecution {
    /// Its workspace.
    pub scope: Scope,
    /// What it is of.
    pub kind: ExecutionKind,
    /// The turn, of a turn.
    pub turn: Option<TurnId>,
    /// The call, of a direct one.
    pub call: Option<CallId>,
    /// The conversation, of a turn.
    pub conversation: Option<ConversationId>,
}

/// A call that runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RunningCall {
    /// The call.
    pub call: CallId,
    /// What it calls.
    pub capability: String,
}

/// What closes by itself when its timer rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum Due {
    /// An approval.
    ApprovalExpiry(ApprovalId),
    /// A plan.
    PlanExpiry(PlanId),
}

/// A timer that is due.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DueTimer {
    /// Its workspace.
    pub scope: Scope,
    /// What closes.
    pub due: Due,
    /// When it was due.
    pub due_at: DateTime<Utc>,
}

/// A workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WorkspaceRow {
    /// Its tenant and itself.
    pub scope: Scope,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// A queued turn waits for another one, a paused one for its approvals: neither was left lying. Who is to be
/// cancelled waits for nothing.
const STALE: &str = "
select to_jsonb(r) from (
  select jsonb_build_object('tenant', tenant_id, 'workspace', workspace_id) as scope, kind, turn_id as turn,
    call_id as call, conversation_id as conversation
  from execution.executions e
  where finished_at is null and updated_at < $1 and kind is not null
    and (cancel_requested_at is not null or status = 'running' or (status = 'paused' and not exists (
      select from agent.approval_requests a
      where a.tenant_id = e.tenant_id and a.workspace_id = e.workspace_id and a.resolved_at is null
        and (a.turn_id = e.turn_id or a.tool_call_id = e.call_id)) and not exists (
      select from agent.plans p
      where p.tenant_id = e.tenant_id and p.workspace_id = e.workspace_id and p.turn_id = e.turn_id
        and p.status = 'proposed')))
  order by updated_at limit $2) r";
const RUNNING: &str = "
select to_jsonb(r) from (
  select id as call, capability from execution.tool_calls where status = 'started' and capability is not null) r";
const DUE: &str = "
select to_jsonb(r) from (
  select jsonb_build_object('tenant', tenant_id, 'workspace', workspace_id) as scope,
    jsonb_build_object('kind', kind, 'id', id) as due, due_at
  from execution.timers
  where closed_at is null and due_at <= $1 and kind in ('approval_expiry', 'plan_expiry') order by due_at limit $2) r";
const WORKSPACES: &str = "
select to_jsonb(r) from (
  select jsonb_build_object('tenant', tenant_id, 'workspace', workspace_id) as scope, name, created_at
  from agent.workspaces where name is not null order by created_at, id) r";
const CURSOR: &str = "select coalesce((select seq from projection.cursors where projection = $1), 0)";

impl Queries {
    /// Executions left lying since before `older_than`, the longest first, at most `limit`.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn stale_executions(
        &self,
        older_than: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<StaleExecution>, QueryError> {
        let query = rows(STALE).bind(older_than).bind(i64::from(limit));
        bounded(async { all(&mut self.across().await?, query).await }).await
    }

    /// The calls that run in a workspace.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn running_calls(&self, scope: Scope) -> Result<Vec<RunningCall>, QueryError> {
        bounded(async { all(&mut self.inside(scope).await?, rows(RUNNING)).await }).await
    }

    /// Timers that are due at `now`, the longest due first, at most `limit`.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn due_timers(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<DueTimer>, QueryError> {
        let query = rows(DUE).bind(now).bind(i64::from(limit));
        bounded(async { all(&mut self.across().await?, query).await }).await
    }

    /// Every workspace, oldest first.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceRow>, QueryError> {
        bounded(async { all(&mut self.across().await?, rows(WORKSPACES)).await }).await
    }

    /// How far a projection (`postgres`, `clickhouse` or `neo4j`) is: every fact up to this `seq` is in it.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn cursor(&self, projection: &str) -> Result<u64, QueryError> {
        bounded(async { cursor(&mut self.across().await?, projection).await }).await
    }
}

/// How far a projection is in the snapshot of this transaction.
pub(super) async fn cursor(
    transaction: &mut Transaction<'static, Postgres>,
    projection: &str,
) -> Result<u64, QueryError> {
    let seq: i64 = sqlx::query_scalar(CURSOR).bind(projection).fetch_one(&mut **transaction).await?;
    Ok(seq.unsigned_abs())
}
