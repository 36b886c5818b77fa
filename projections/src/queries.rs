//! What the read models of Postgres are asked. Fed by the Postgres projector; read by gateway, runner and reactor.
//!
//! Each question is one read-only transaction that first takes on the reader's role and names its workspace, so that
//! row level security shows it nothing else. Questions of the runtime itself cross workspaces and say so.

mod agents;
mod approvals;
mod conversations;
mod plans;
mod runtime;
mod tool_calls;
mod turns;

use std::future::Future;
use std::time::Duration;

use oxagen_domain::Scope;
use serde::de::DeserializeOwned;
use sqlx::postgres::{PgArguments, PgPool};
use sqlx::query::QueryScalar;
use sqlx::types::Json;
use sqlx::{Postgres, Transaction};
use tokio::time::timeout;

use crate::error::QueryError;
use crate::pool;

pub use agents::{AgentRow, KeyRow};
pub use approvals::ApprovalRow;
pub use conversations::{ConversationRow, ConversationView, MessageView};
pub use plans::{PlanRow, PlanStepRow};
pub use runtime::{Due, DueTimer, ExecutionKind, RunningCall, StaleExecution, WorkspaceRow};
pub use tool_calls::ToolCallRow;
pub use turns::{CallSummary, StepView, TurnView};

/// Longest wait for an answer, a free connection included.
const ANSWER: Duration = Duration::from_secs(8);
/// The server gives a query up after this time.
const STATEMENT: &str = "6s";
/// One snapshot for all that a question reads.
const BEGIN: &str = "begin isolation level repeatable read read only";
const AS_READER: &str = "
select set_config('role', 'oxagen_reader', true), set_config('oxagen.tenant', $1, true),
       set_config('oxagen.workspace', $2, true)";
const AS_RUNTIME: &str = "select set_config('oxagen.runtime', 'on', true)";

/// The questions. Cheap to clone; clones share the pool.
#[derive(Clone, Debug)]
pub struct Queries {
    pool: PgPool,
}

/// A query whose rows are JSON: `select to_jsonb(r) from (…) r`.
type Rows<'q, T> = QueryScalar<'q, Postgres, Json<T>, PgArguments>;

impl Queries {
    /// Opens a pool and makes sure that the server answers.
    ///
    /// # Errors
    /// [`QueryError::Unavailable`] when nobody answers, [`QueryError::Database`] for a bad address.
    pub async fn connect(url: &str, max_connections: u32) -> Result<Self, QueryError> {
        let address = pool::address(url, "queries", STATEMENT)?;
        Ok(Self { pool: pool::options(max_connections).connect_with(address).await? })
    }

    /// Asks the server for a sign of life.
    ///
    /// # Errors
    /// [`QueryError::Unavailable`].
    pub async fn ping(&self) -> Result<(), QueryError> {
        bounded(async { Ok(sqlx::query("select 1").execute(&self.pool).await.map(drop)?) }).await
    }

    /// A transaction that sees one workspace.
    async fn inside(&self, scope: Scope) -> Result<Transaction<'static, Postgres>, QueryError> {
        let mut transaction = self.pool.begin_with(BEGIN).await?;
        let open = sqlx::query(AS_READER).bind(scope.tenant.to_string()).bind(scope.workspace.to_string());
        open.execute(&mut *transaction).await?;
        Ok(transaction)
    }

    /// A transaction that sees every workspace, for the runtime itself.
    async fn across(&self) -> Result<Transaction<'static, Postgres>, QueryError> {
        let mut transaction = self.pool.begin_with(BEGIN).await?;
        sqlx::query(AS_RUNTIME).execute(&mut *transaction).await?;
        Ok(transaction)
    }
}

/// Waits for an answer, but not for ever.
async fn bounded<T>(work: impl Future<Output = Result<T, QueryError>>) -> Result<T, QueryError> {
    timeout(ANSWER, work).await.unwrap_or_else(|_| Err(QueryError::silent(ANSWER)))
}

/// A query whose rows are JSON.
fn rows<'q, T>(sql: &'q str) -> Rows<'q, T>
where
    T: DeserializeOwned + Send + Unpin + 'static,
{
    sqlx::query_scalar(sql)
}

/// All rows of a query.
async fn all<T>(
    transaction: &mut Transaction<'static, Postgres>,
    query: Rows<'_, T>,
) -> Result<Vec<T>, QueryError>
where
    T: DeserializeOwned + Send + Unpin + 'static,
{
    let rows = query.fetch_all(&mut **transaction).await?;
    Ok(rows.into_iter().map(|Json(row)| row).collect())
}

/// The row of a query that has at most one.
async fn one<T>(
    transaction: &mut Transaction<'static, Postgres>,
    query: Rows<'_, T>,
) -> Result<Option<T>, QueryError>
where
    T: DeserializeOwned + Send + Unpin + 'static,
{
    Ok(query.fetch_optional(&mut **transaction).await?.map(|Json(row)| row))
}
