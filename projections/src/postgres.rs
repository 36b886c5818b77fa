//! The read models in Postgres: every table's rows and the cursor change in one transaction.

mod agents;
mod approvals;
mod conversations;
mod executions;
mod keys;
mod messages;
mod plans;
mod source;
mod steps;
mod timers;
mod tool_calls;
mod tools;
pub(crate) mod views;
mod workspaces;

use std::time::Duration;

use fail::fail_point;
use sqlx::postgres::PgPool;
use tokio::time::timeout;

use crate::cursor;
use crate::pool;
use crate::store::{Batch, Store, StoreError};

use views::Views;

/// The projection's name.
pub(crate) const NAME: &str = "postgres";
/// Longest time for one batch.
const ANSWER: Duration = Duration::from_secs(30);
/// The server gives a statement up after this time.
const STATEMENT: &str = "25s";
/// Connections of one projector.
const CONNECTIONS: u32 = 3;
/// Opens the tables' doors to the owner for this transaction: a projector writes for every workspace.
pub(crate) const AS_RUNTIME: &str = "select set_config('oxagen.runtime', 'on', true)";

/// The read models in Postgres.
#[derive(Clone, Debug)]
pub struct Postgres {
    pub(crate) pool: PgPool,
}

impl Postgres {
    /// The read models in this database, as the user that owns its tables. Nothing is connected yet.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for an address that is none.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        Ok(Self { pool: lazy_pool(NAME, url)? })
    }
}

impl Store for Postgres {
    const BATCH: usize = 2_000;

    fn name(&self) -> &'static str {
        NAME
    }

    async fn prepare(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn cursor(&self) -> Result<u64, StoreError> {
        bounded(cursor::read(&self.pool, NAME)).await
    }

    async fn apply(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let views = Views::of(batch.facts)?;
        let failed = |error: sqlx::Error| cursor::explain(NAME, &error);
        bounded(async {
            let mut transaction = self.pool.begin().await.map_err(failed)?;
            sqlx::query(AS_RUNTIME).execute(&mut *transaction).await.map_err(failed)?;
            if cursor::advance(&mut transaction, NAME, batch).await? {
                views.write(&mut transaction, "").await.map_err(failed)?;
            }
            fail_point!("projector.commit", |_| std::process::abort());
            transaction.commit().await.map_err(failed)
        })
        .await
    }
}

/// A small pool that connects when it is first used.
pub(crate) fn lazy_pool(store: &'static str, url: &str) -> Result<PgPool, StoreError> {
    let address = pool::address(url, &format!("projector-{store}"), STATEMENT);
    let address = address.map_err(|error| StoreError::Refused {
        store,
        cause: format!("{error}; expected postgres://user:password@host:port/database"),
    })?;
    Ok(pool::options(CONNECTIONS).connect_lazy_with(address))
}

/// Waits for an answer, but not for ever.
async fn bounded<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    timeout(ANSWER, work).await.unwrap_or_else(|_| {
        Err(StoreError::Unavailable {
            store: NAME,
            cause: format!("no answer within {} s", ANSWER.as_secs()),
        })
    })
}
