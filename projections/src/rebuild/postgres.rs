//! The read models in Postgres: built in schemas of their own, then made to take the live rows' place by one
//! transaction that writes what differs.
//!
//! The tables themselves stay. Were they exchanged, a reader whose snapshot is older than the exchange would open the
//! new table and miss in it what was written after that snapshot, and every reader would wait for the exchange's locks.
//! Rows written in a transaction are what snapshots are made for: each reader sees all of the old or all of the new.

use oxagen_journal::Journal;
use sqlx::Executor;
use sqlx::postgres::{PgConnection, PgPool};

use super::shadow::{Filling, Shadow};
use super::turn::Turn;
use super::{Change, Rebuild, RebuildError, Rebuilt, Tell};
use crate::cursor::{self, explain};
use crate::postgres::views::{Views, each_table};
use crate::postgres::{AS_RUNTIME, NAME, Postgres};
use crate::store::{Batch, StoreError};
use crate::table::{Rows, Table};

/// Goes before the schemas' names.
const SHADOW: &str = "rebuild_";
/// The rest of a rebuild that was killed, and of a finished one.
const CLEAR: &str = "drop schema if exists rebuild_execution, rebuild_chat, rebuild_agent cascade";
const MAKE: &str = "create schema rebuild_execution; create schema rebuild_chat; create schema rebuild_agent";

impl Rebuild for Postgres {
    async fn rebuild(&self, journal: &Journal, tell: Tell<'_>) -> Result<Rebuilt, RebuildError> {
        let failed = |error: sqlx::Error| explain(NAME, &error);
        let mut turn = Turn::take(&self.pool, NAME).await?;
        make(turn.session()).await.map_err(failed)?;
        let shadow = Tables(&self.pool);
        let mut filling = Filling::new(&shadow, journal, tell);
        filling.come_near().await?;

        let (mut transaction, cursor) = turn.hold_cursor().await?;
        filling.fill(cursor).await?;
        transaction.execute(AS_RUNTIME).await.map_err(failed)?;
        let mut tables = Vec::new();
        let mut views = Views::default();
        each_table!(views, rows => tables.push(replace(rows, &mut transaction).await.map_err(failed)?));
        transaction.commit().await.map_err(failed)?;

        turn.session().execute(CLEAR).await.map_err(failed)?;
        let refused = filling.refused;
        turn.end().await;
        Ok(Rebuilt { store: NAME, cursor, refused, tables })
    }
}

/// The tables beside the live ones.
struct Tables<'p>(&'p PgPool);

impl Shadow for Tables<'_> {
    async fn put(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let views = Views::of(batch.facts)?;
        let failed = |error: sqlx::Error| explain(NAME, &error);
        let mut transaction = self.0.begin().await.map_err(failed)?;
        views.write(&mut transaction, SHADOW).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    async fn live(&self) -> Result<u64, StoreError> {
        cursor::read(self.0, NAME).await
    }

    fn store(&self) -> &'static str {
        NAME
    }
}

/// Makes them, empty. They need not outlive a crash of the server.
async fn make(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(CLEAR).await?;
    connection.execute(MAKE).await?;
    let mut views = Views::default();
    each_table!(views, rows => connection.execute(like(rows).as_str()).await?);
    Ok(())
}

fn like<R: Table>(_: &Rows<R>) -> String {
    let name = R::NAME;
    format!("create unlogged table {SHADOW}{name} (like {name} including all)")
}

/// Removes what is not as it was built, then adds what is not there.
async fn replace<R: Table>(_: &Rows<R>, connection: &mut PgConnection) -> Result<Change, sqlx::Error> {
    const SAME: &str = "(t.tenant_id, t.workspace_id, t.id) = (s.tenant_id, s.workspace_id, s.id)";
    let table = R::NAME;
    connection.execute(format!("analyze {SHADOW}{table}").as_str()).await?;
    let remove = format!(
        "delete from {table} t where not exists (
           select from {SHADOW}{table} s where {SAME} and row(s.*) is not distinct from row(t.*))"
    );
    let removed = connection.execute(remove.as_str()).await?.rows_affected();
    let write = format!(
        "insert into {table} select s.* from {SHADOW}{table} s
         where not exists (select from {table} t where {SAME})"
    );
    let written = connection.execute(write.as_str()).await?.rows_affected();
    Ok(Change { table, removed, written })
}
