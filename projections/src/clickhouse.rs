//! The analytic rows in ClickHouse. The cursor, which lies in Postgres, is moved first and committed after the rows:
//! whatever falls between is sent again, and a row that is there already replaces itself. Whoever holds the cursor's
//! row keeps everybody else from writing.

pub(crate) mod event;
pub(crate) mod invocation;
pub(crate) mod usage;

use std::time::Duration;

use ::clickhouse::error::Error;
use ::clickhouse::{Client, Row, RowOwned, RowWrite};
use chrono::{DateTime, Utc};
use fail::fail_point;
use futures::join;
use sqlx::Executor;
use sqlx::postgres::PgPool;
use tokio::time::timeout;

use crate::cursor;
use crate::kinds::has_analytic_rows;
use crate::postgres::lazy_pool;
use crate::store::{Batch, Store, StoreError};
use crate::table::Key;

use event::EventRow;
use invocation::{InvocationRow, Invocations};
use usage::UsageRow;

/// The projection's name.
pub(crate) const NAME: &str = "clickhouse";
/// Every table.
pub(crate) const TABLES: [&str; 3] = [InvocationRow::TABLE, EventRow::TABLE, UsageRow::TABLE];
/// The cursor's transaction waits for the inserts of a batch.
const PATIENT: &str = "set local idle_in_transaction_session_timeout = '45s'";
/// Longest time for one insert.
const ANSWER: Duration = Duration::from_secs(30);

/// Where ClickHouse is, and the Postgres that keeps the cursor.
#[derive(Clone)]
pub struct ClickHouseOptions {
    /// `http://host:port`.
    pub url: String,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// Database.
    pub database: String,
    /// The read models' Postgres, for the cursor.
    pub postgres_url: String,
}

/// The analytic rows in ClickHouse.
#[derive(Clone)]
pub struct ClickHouse {
    pub(crate) client: Client,
    pub(crate) cursors: PgPool,
}

impl ClickHouse {
    /// The analytic rows in this database. Nothing is connected yet.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a Postgres address that is none.
    pub fn new(options: &ClickHouseOptions) -> Result<Self, StoreError> {
        let client = Client::default()
            .with_url(&options.url)
            .with_user(&options.user)
            .with_password(&options.password)
            .with_database(&options.database);
        Ok(Self { client, cursors: lazy_pool(NAME, &options.postgres_url)? })
    }

    /// Writes the rows of these facts. `shadow` goes before the tables' names; nothing for the live ones.
    pub(crate) async fn write(&self, shadow: &str, batch: Batch<'_>) -> Result<(), StoreError> {
        let mut invocations = Invocations::default();
        let (mut events, mut usage) = (Vec::with_capacity(batch.facts.len()), Vec::new());
        for fact in batch.facts {
            let refused = |cause| StoreError::Refused { store: NAME, cause };
            events.extend(EventRow::of(fact));
            if !has_analytic_rows(&fact.kind) {
                continue;
            }
            let Some(event) = fact.event().map_err(|error| refused(error.to_string()))? else { continue };
            invocations.take(fact, &event).map_err(refused)?;
            usage.extend(UsageRow::of(fact, &event));
        }
        let invocations = invocations.rows();
        // All end before one's error is told: an insert that is dropped half way may be in or not.
        let (events, invocations, usage) = join!(
            self.insert(shadow, batch, &events),
            self.insert(shadow, batch, &invocations),
            self.insert(shadow, batch, &usage),
        );
        events.and(invocations).and(usage)
    }

    /// Inserts rows, all or none. The token makes the server drop a batch that it has taken in before.
    async fn insert<R>(&self, shadow: &str, batch: Batch<'_>, rows: &[R]) -> Result<(), StoreError>
    where
        R: Analytic + RowOwned + RowWrite + for<'a> Row<Value<'a> = R>,
    {
        if rows.is_empty() {
            return Ok(());
        }
        let table = format!("{shadow}{}", R::TABLE);
        let token = format!("{table}/{}/{}", batch.from, batch.to);
        let work = async {
            let insert = self.client.insert::<R>(&table).await?;
            let mut insert = insert.with_setting("insert_deduplication_token", token);
            for row in rows {
                insert.write(row).await?;
            }
            insert.end().await
        };
        match timeout(ANSWER, work).await {
            Ok(answer) => answer.map_err(|error| explain(&error)),
            Err(_) => Err(unavailable(format!("no answer within {} s", ANSWER.as_secs()))),
        }
    }
}

impl Store for ClickHouse {
    const BATCH: usize = 10_000;

    fn name(&self) -> &'static str {
        NAME
    }

    async fn prepare(&self) -> Result<(), StoreError> {
        // What the tables look like may have changed while this projector stood by.
        self.client.clear_cached_metadata().await;
        Ok(())
    }

    async fn cursor(&self) -> Result<u64, StoreError> {
        cursor::read(&self.cursors, NAME).await
    }

    async fn apply(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let failed = |error: sqlx::Error| cursor::explain(NAME, &error);
        let mut transaction = self.cursors.begin().await.map_err(failed)?;
        transaction.execute(PATIENT).await.map_err(failed)?;
        if cursor::advance(&mut transaction, NAME, batch).await? {
            fail_point!("projector.commit", |_| std::process::abort());
            self.write("", batch).await?;
            fail_point!("projector.before_cursor", |_| std::process::abort());
        }
        transaction.commit().await.map_err(failed)
    }
}

/// A row of an analytic table.
pub(crate) trait Analytic: Row {
    /// The table.
    const TABLE: &'static str;
    /// What its key, which no fact changes, and its version are called.
    const KEY: &'static [&'static str];
    /// Days after which the server may drop it.
    const KEPT_DAYS: i64;

    /// Tenant, workspace and the row's own identifier.
    fn key(&self) -> Key;
    /// The time from which those days are counted.
    fn at(&self) -> DateTime<Utc>;
    /// The `seq` of its last fact.
    fn sequence(&self) -> u64;
}

macro_rules! analytic {
    ($row:ident in $table:literal by $id:ident, kept $days:literal days from $at:ident) => {
        impl $crate::clickhouse::Analytic for $row {
            const TABLE: &'static str = $table;
            const KEY: &'static [&'static str] = &["tenant_id", "workspace_id", stringify!($id), "sequence"];
            const KEPT_DAYS: i64 = $days;

            fn key(&self) -> $crate::table::Key {
                (self.tenant_id, self.workspace_id, self.$id)
            }

            fn at(&self) -> ::chrono::DateTime<::chrono::Utc> {
                self.$at
            }

            fn sequence(&self) -> u64 {
                self.sequence
            }
        }
    };
}
pub(crate) use analytic;

fn unavailable(cause: String) -> StoreError {
    StoreError::Unavailable { store: NAME, cause }
}

/// Only what cannot be written as a row is the facts' fault; all else is the server's, and may be mended there.
pub(crate) fn explain(error: &Error) -> StoreError {
    let cause = error.to_string();
    match error {
        Error::Custom(_) | Error::InvalidTagEncoding(_) | Error::SequenceMustHaveLength => {
            StoreError::Refused { store: NAME, cause }
        }
        _ => unavailable(cause),
    }
}
