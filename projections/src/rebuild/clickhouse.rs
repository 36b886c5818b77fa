//! The analytic tables in ClickHouse: built beside the live ones, compared, and exchanged with them one by one.

use oxagen_journal::Journal;

use super::shadow::{Filling, Shadow};
use super::turn::Turn;
use super::{Change, Rebuild, RebuildError, Rebuilt, Tell};
use crate::clickhouse::{ClickHouse, NAME, TABLES, explain};
use crate::cursor;
use crate::store::{Batch, Store, StoreError};

/// Goes before the tables' names.
const SHADOW: &str = "rebuild_";

impl Rebuild for ClickHouse {
    async fn rebuild(&self, journal: &Journal, tell: Tell<'_>) -> Result<Rebuilt, RebuildError> {
        let mut turn = Turn::take(&self.cursors, NAME).await?;
        for table in TABLES {
            self.run(&format!("drop table if exists {SHADOW}{table} sync")).await?;
            self.run(&format!("create table {SHADOW}{table} as {table}")).await?;
        }
        self.client.clear_cached_metadata().await;
        let mut filling = Filling::new(self, journal, tell);
        filling.come_near().await?;

        // The projector moves the cursor before it writes: while it is held, nobody writes the live tables.
        let (transaction, cursor) = turn.hold_cursor().await?;
        filling.fill(cursor).await?;
        let mut tables = Vec::new();
        for table in TABLES {
            let (live, built) = (table.to_owned(), format!("{SHADOW}{table}"));
            let removed = self.lacking(&live, &built).await?;
            let written = self.lacking(&built, &live).await?;
            tables.push(Change { table, removed, written });
        }
        for table in TABLES {
            self.run(&format!("exchange tables {table} and {SHADOW}{table}")).await?;
        }
        transaction.commit().await.map_err(|error| cursor::explain(NAME, &error))?;

        for table in TABLES {
            self.run(&format!("drop table if exists {SHADOW}{table} sync")).await?;
        }
        let refused = filling.refused;
        turn.end().await;
        Ok(Rebuilt { store: NAME, cursor, refused, tables })
    }
}

impl ClickHouse {
    async fn run(&self, sql: &str) -> Result<(), StoreError> {
        self.client.query(sql).execute().await.map_err(|error| explain(&error))
    }

    /// How many rows of one table the other one does not have.
    async fn lacking(&self, one: &str, other: &str) -> Result<u64, StoreError> {
        let count = format!(
            "select count() from (select * from {one} final except distinct select * from {other} final)"
        );
        self.client.query(&count).fetch_one().await.map_err(|error| explain(&error))
    }
}

impl Shadow for ClickHouse {
    async fn put(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        self.write(SHADOW, batch).await
    }

    async fn live(&self) -> Result<u64, StoreError> {
        self.cursor().await
    }

    fn store(&self) -> &'static str {
        NAME
    }
}
