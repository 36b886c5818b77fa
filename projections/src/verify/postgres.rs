//! The read models in Postgres.

use futures::TryStreamExt;
use serde_json::Value;
use sqlx::postgres::PgConnection;
use sqlx::{Row as _, Transaction};

use super::compare::{Comparison, Findings, Place, Row};
use super::expected::{Expected, Part};
use crate::cursor::explain;
use crate::postgres::views::each_table;
use crate::postgres::{AS_RUNTIME, NAME, Postgres};
use crate::store::StoreError;
use crate::table::{Key, Rows, Table};

/// One snapshot for all tables; it takes as long as it takes.
const BEGIN: &str = "begin isolation level repeatable read read only";
const PATIENT: &str = "
select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)";

/// Compares every table.
pub(super) async fn compare(
    store: &Postgres,
    expected: &mut Expected,
    cursor: u64,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    expected.views.settle();
    let failed = |error: sqlx::Error| explain(NAME, &error);
    let mut transaction: Transaction<'_, _> = store.pool.begin_with(BEGIN).await.map_err(failed)?;
    for set in [AS_RUNTIME, PATIENT] {
        sqlx::query(set).execute(&mut *transaction).await.map_err(failed)?;
    }
    let part = expected.part;
    each_table!(expected.views, rows => table(rows, part, cursor, findings, &mut transaction).await.map_err(failed)?);
    transaction.commit().await.map_err(failed)
}

async fn table<R: Table>(
    rows: &mut Rows<R>,
    part: Part,
    cursor: u64,
    findings: &mut Findings,
    connection: &mut PgConnection,
) -> Result<(), sqlx::Error> {
    let columns: Vec<_> = R::COLUMNS.iter().map(|column| column.name).collect();
    let select = format!(
        "select tenant_id, workspace_id, id, sequence, {} from {}
         where ($1 is null or tenant_id = $1) and ($2 = 0 or sequence > $2 or id = any ($3))",
        columns.join(", "),
        R::NAME
    );
    let expected = rows.take_all().into_iter().map(|(key, row)| (key, compared(&row))).collect();
    let place = Place { store: NAME, table: R::NAME };
    let mut comparison = Comparison::new(place, told::<R>, cursor, expected, findings);
    let tenant = comparison.tenant().map(|tenant| tenant.0);
    let mut wanted = (comparison.after().cast_signed(), Vec::new());
    loop {
        let (after, ids) = wanted;
        let mut found = sqlx::query(&select).bind(tenant).bind(after).bind(ids).fetch(&mut *connection);
        while let Some(row) = found.try_next().await? {
            let key: Key = (row.try_get("tenant_id")?, row.try_get("workspace_id")?, row.try_get("id")?);
            let row = R::read(&row)?;
            if part.has(R::part_of(&key, &row)) {
                comparison.found(key, &compared(&row));
            }
        }
        let lacking = comparison.lacking();
        if after == i64::MAX || lacking.is_empty() {
            comparison.end();
            return Ok(());
        }
        wanted = (i64::MAX, lacking);
    }
}

fn compared<R: Table>(row: &R) -> Row {
    let cells: Value = row.cells().into_iter().map(|(_, cell)| cell).collect();
    Row { sequence: row.sequence(), text: cells.to_string() }
}

fn told<R: Table>(text: &str) -> Vec<(&'static str, Value)> {
    let cells: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    R::COLUMNS.iter().map(|column| column.name).zip(cells).collect()
}
