//! The analytic rows in ClickHouse. Rows go first and the cursor, which lies in Postgres, after them: whatever falls
//! between is sent again, and a row that is there already replaces itself.

mod event;
mod invocation;
mod usage;

use std::time::Duration;

use ::clickhouse::error::Error;
use ::clickhouse::{Client, Row, RowOwned, RowWrite};
use sqlx::postgres::PgPool;
use tokio::time::timeout;

use crate::cursor;
use crate::postgres::lazy_pool;
use crate::store::{Batch, Store, StoreError};

use event::EventRow;
use invocation::Invocations;
use usage::UsageRow;

/// The projection's name.
const NAME: &str = "clickhouse";
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
    client: Client,
    cursors: PgPool,
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

    /// Inserts rows, all or none. The token makes the server drop a batch that it has taken in before.
    async fn insert<R>(&self, table: &str, batch: Batch<'_>, rows: &[R]) -> Result<(), StoreError>
    where
        R: RowOwned + RowWrite + for<'a> Row<Value<'a> = R>,
    {
        if rows.is_empty() {
            return Ok(());
        }
        let token = format!("{table}/{}/{}", batch.from, batch.to);
        let work = async {
            let insert = self.client.insert::<R>(table).await?;
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
        let mut invocations = Invocations::default();
        let (mut events, mut usage) = (Vec::new(), Vec::new());
        for fact in batch.facts {
            let refused = |cause| StoreError::Refused { store: NAME, cause };
            let Some(event) = fact.event().map_err(|error| refused(error.to_string()))? else { continue };
            invocations.take(fact, &event).map_err(refused)?;
            usage.extend(UsageRow::of(fact, &event));
            events.push(EventRow::of(fact, &event));
        }
        self.insert("tool_invocations", batch, &invocations.rows()).await?;
        self.insert("events", batch, &events).await?;
        self.insert("token_usage", batch, &usage).await?;
        let failed = |error: sqlx::Error| cursor::explain(NAME, &error);
        let mut connection = self.cursors.acquire().await.map_err(failed)?;
        cursor::advance(&mut connection, NAME, batch).await.map(drop)
    }
}

fn unavailable(cause: String) -> StoreError {
    StoreError::Unavailable { store: NAME, cause }
}

/// Only what cannot be written as a row is the facts' fault; all else is the server's, and may be mended there.
fn explain(error: &Error) -> StoreError {
    let cause = error.to_string();
    match error {
        Error::Custom(_) | Error::InvalidTagEncoding(_) | Error::SequenceMustHaveLength => {
            StoreError::Refused { store: NAME, cause }
        }
        _ => unavailable(cause),
    }
}
