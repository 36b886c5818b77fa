//! How far projections are: `projection.cursors`, moved by compare-and-set.

use sqlx::postgres::{PgConnection, PgPool};

use crate::error::is_outage;
use crate::store::{Batch, StoreError};

/// The cursor; 0 for a projection that has not begun.
pub(crate) async fn read(pool: &PgPool, projection: &'static str) -> Result<u64, StoreError> {
    const READ: &str = "select coalesce((select seq from projection.cursors where projection = $1), 0)";
    let read: Result<i64, _> = sqlx::query_scalar(READ).bind(projection).fetch_one(pool).await;
    read.map(i64::unsigned_abs).map_err(|error| explain(projection, &error))
}

/// Moves the cursor from `batch.from` to `batch.to`. `false`: it stands at `to` already, the batch was taken in and
/// only the answer got lost.
pub(crate) async fn advance(
    connection: &mut PgConnection,
    projection: &'static str,
    batch: Batch<'_>,
) -> Result<bool, StoreError> {
    // One statement for the first batch and every later one. The row's lock makes a second projector wait here.
    const ADVANCE: &str = "
        insert into projection.cursors as c (projection, seq) select $1, $3 where $2 = 0 or exists (
          select from projection.cursors where projection = $1)
        on conflict (projection) do update set seq = excluded.seq, updated_at = now() where c.seq = $2";
    const FOUND: &str = "select coalesce((select seq from projection.cursors where projection = $1), 0)";
    let failed = |error: sqlx::Error| explain(projection, &error);
    let (from, to) = (batch.from.cast_signed(), batch.to.cast_signed());
    let advance = sqlx::query(ADVANCE).bind(projection).bind(from).bind(to);
    if advance.execute(&mut *connection).await.map_err(failed)?.rows_affected() == 1 {
        return Ok(true);
    }
    let found: i64 =
        sqlx::query_scalar(FOUND).bind(projection).fetch_one(connection).await.map_err(failed)?;
    if found == to {
        return Ok(false);
    }
    Err(StoreError::CursorMoved { store: projection, expected: batch.from, found: found.unsigned_abs() })
}

/// Keeps the cursor where it is until the transaction ends, and says where that is. Whoever wants to move it waits.
pub(crate) async fn hold(connection: &mut PgConnection, projection: &'static str) -> Result<u64, StoreError> {
    const BEGIN: &str =
        "insert into projection.cursors (projection, seq) values ($1, 0) on conflict do nothing";
    const HOLD: &str = "select seq from projection.cursors where projection = $1 for update";
    let failed = |error: sqlx::Error| explain(projection, &error);
    sqlx::query(BEGIN).bind(projection).execute(&mut *connection).await.map_err(failed)?;
    let held: i64 = sqlx::query_scalar(HOLD).bind(projection).fetch_one(connection).await.map_err(failed)?;
    Ok(held.unsigned_abs())
}

/// Notes how far a store is that keeps its own cursor, for people and for those who wait for it.
pub(crate) async fn note(pool: &PgPool, projection: &'static str, seq: u64) -> Result<(), StoreError> {
    const NOTE: &str = "
        insert into projection.cursors (projection, seq) values ($1, $2)
        on conflict (projection) do update set seq = excluded.seq, updated_at = now()";
    let note = sqlx::query(NOTE).bind(projection).bind(seq.cast_signed());
    note.execute(pool).await.map(drop).map_err(|error| explain(projection, &error))
}

/// An outage is worth a retry, a refusal is not. Every store has its cursor in Postgres, whose word this is.
pub(crate) fn explain(store: &'static str, error: &sqlx::Error) -> StoreError {
    let cause = match store {
        "postgres" => error.to_string(),
        _ => format!("Postgres, where its cursor is, says: {error}"),
    };
    if is_outage(error) {
        StoreError::Unavailable { store, cause }
    } else {
        StoreError::Refused { store, cause }
    }
}
