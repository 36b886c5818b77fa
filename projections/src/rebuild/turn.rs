//! One rebuild of a projection at a time: whose session holds an advisory lock. The server lets go of it when the
//! session ends, however it ends.

use sqlx::postgres::{PgConnection, PgPool, Postgres};
use sqlx::{Connection, Transaction};

use super::RebuildError;
use crate::cursor::{explain, hold};

const TAKE: &str = "select pg_try_advisory_lock(hashtextextended('oxagen/rebuild/' || $1, 0))";
/// What is built takes as long as it takes; the projector's batch under way is waited for.
const PATIENT: &str = "
select set_config('statement_timeout', '0', false), set_config('lock_timeout', '60s', false),
       set_config('idle_in_transaction_session_timeout', '10min', false)";

/// The right to rebuild a projection.
pub(super) struct Turn {
    store: &'static str,
    session: PgConnection,
}

impl Turn {
    /// Takes it, or says that somebody else has it.
    pub(super) async fn take(pool: &PgPool, store: &'static str) -> Result<Self, RebuildError> {
        let failed = |error: sqlx::Error| explain(store, &error);
        // Out of the pool for good: the lock lives as long as this session.
        let mut session = pool.acquire().await.map_err(failed)?.detach();
        let taken: bool =
            sqlx::query_scalar(TAKE).bind(store).fetch_one(&mut session).await.map_err(failed)?;
        if !taken {
            return Err(RebuildError::Busy { store });
        }
        sqlx::query(PATIENT).execute(&mut session).await.map_err(failed)?;
        Ok(Self { store, session })
    }

    /// The session, for what must not outlive the right.
    pub(super) fn session(&mut self) -> &mut PgConnection {
        &mut self.session
    }

    /// Holds the projection's cursor until the transaction ends, and says where it is: its projector waits meanwhile.
    pub(super) async fn hold_cursor(&mut self) -> Result<(Transaction<'_, Postgres>, u64), RebuildError> {
        let mut transaction = self.session.begin().await.map_err(|error| explain(self.store, &error))?;
        let cursor = hold(&mut transaction, self.store).await?;
        Ok((transaction, cursor))
    }

    /// Lets go of it at once, instead of when the server notices.
    pub(super) async fn end(self) {
        if let Err(error) = self.session.close().await {
            tracing::debug!(%error, "the session of a rebuild did not end in peace");
        }
    }
}
