//! The analytic rows in ClickHouse.

use ::clickhouse::{RowOwned, RowRead};
use chrono::{DateTime, TimeDelta, Utc};
use oxagen_domain::Fact;
use serde::Serialize;
use serde_json::Value;

use super::compare::{Comparison, Findings, Place, Row};
use super::expected::{Expected, Part, Table};
use super::refused;
use crate::cell::Cell;
use crate::clickhouse::event::EventRow;
use crate::clickhouse::invocation::{InvocationRow, Invocations};
use crate::clickhouse::usage::UsageRow;
use crate::clickhouse::{Analytic, ClickHouse, NAME, explain};
use crate::store::StoreError;

/// The rows of every table.
#[derive(Default)]
pub(super) struct Tables {
    invocations: Table,
    events: Table,
    usage: Table,
}

impl Tables {
    /// Folds a fact.
    pub(super) fn take_in(&mut self, fact: &Fact, part: Part) -> Result<(), StoreError> {
        let Some(event) = fact.event().map_err(|error| refused(NAME, error))? else { return Ok(()) };
        let mut ended = Invocations::default();
        ended.take(fact, &event).map_err(|cause| refused(NAME, cause))?;
        for row in ended.rows() {
            add(&mut self.invocations, &row, part)?;
        }
        if let Some(row) = UsageRow::of(fact, &event) {
            add(&mut self.usage, &row, part)?;
        }
        add(&mut self.events, &EventRow::of(fact, &event), part)
    }
}

fn add<R: Analytic + Serialize>(table: &mut Table, row: &R, part: Part) -> Result<(), StoreError> {
    if part.has(row.key().2) && !is_forgotten(row) {
        table.insert(row.key(), compared(row)?);
    }
    Ok(())
}

/// Compares every table.
pub(super) async fn compare(
    store: &ClickHouse,
    expected: &mut Expected,
    cursor: u64,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let Tables { invocations, events, usage } = std::mem::take(&mut expected.analytic);
    let part = expected.part;
    store.client.clear_cached_metadata().await;
    table::<InvocationRow>(
        store,
        part,
        Comparison::new(place::<InvocationRow>(), cursor, invocations, findings),
    )
    .await?;
    table::<EventRow>(store, part, Comparison::new(place::<EventRow>(), cursor, events, findings)).await?;
    table::<UsageRow>(store, part, Comparison::new(place::<UsageRow>(), cursor, usage, findings)).await
}

fn place<R: Analytic>() -> Place {
    Place { store: NAME, table: R::TABLE }
}

async fn table<R>(store: &ClickHouse, part: Part, mut comparison: Comparison<'_>) -> Result<(), StoreError>
where
    R: Analytic + RowOwned + RowRead + Serialize,
    for<'a> R: ::clickhouse::Row<Value<'a> = R>,
{
    let failed = |error: ::clickhouse::error::Error| explain(&error);
    let tenant = comparison.tenant().map_or(String::new(), |tenant| format!(" where tenant_id = '{tenant}'"));
    let select = format!("select ?fields from {} final{tenant}", R::TABLE);
    let mut found = store.client.query(&select).fetch::<R>().map_err(failed)?;
    while let Some(row) = found.next().await.map_err(failed)? {
        if part.has(row.key().2) && !is_forgotten(&row) {
            comparison.found(row.key(), &compared(&row)?);
        }
    }
    comparison.end();
    Ok(())
}

/// Whether it is so old that the server may have dropped it, or is about to.
fn is_forgotten<R: Analytic>(row: &R) -> bool {
    row.at() < Utc::now() - TimeDelta::days(R::KEPT_DAYS)
}

fn compared<R: Analytic + Serialize>(row: &R) -> Result<Row, StoreError> {
    let value = serde_json::to_value(row).map_err(|error| refused(NAME, error))?;
    let Value::Object(mut fields) = value else { return Err(refused(NAME, "a row is no object")) };
    let column = |name: &'static str| {
        let value = fields.remove(name).unwrap_or_default();
        (name, if name == "at" || name.ends_with("_at") { time(value) } else { value })
    };
    let columns = R::COLUMN_NAMES.iter().copied().filter(|name| !R::KEY.contains(name)).map(column);
    Ok(Row { sequence: row.sequence(), columns: columns.collect() })
}

/// Milliseconds as a time that people can read.
fn time(value: Value) -> Value {
    value.as_i64().and_then(DateTime::from_timestamp_millis).map_or(value, |time| time.cell())
}
