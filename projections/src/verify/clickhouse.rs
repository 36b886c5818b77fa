//! The analytic rows in ClickHouse.

use ::clickhouse::{RowOwned, RowRead};
use chrono::{DateTime, TimeDelta, Utc};
use oxagen_domain::{Event, Fact};
use serde::Serialize;
use serde_json::{Map, Value};

use super::compare::{Comparison, Findings, Place, Row};
use super::expected::{Expected, Part, Table};
use super::refused;
use crate::cell::Cell;
use crate::clickhouse::event::EventRow;
use crate::clickhouse::invocation::{InvocationRow, Invocations};
use crate::clickhouse::usage::UsageRow;
use crate::clickhouse::{Analytic, ClickHouse, NAME, explain};
use crate::kinds::has_analytic_rows;
use crate::store::StoreError;

/// Identifiers in one question; the server takes no longer ones.
const IDS: usize = 1_000;

/// The rows of every table.
#[derive(Default)]
pub(super) struct Tables {
    invocations: Table,
    events: Table,
    usage: Table,
}

impl Tables {
    /// Folds a fact, without its event if that cannot be read.
    pub(super) fn take_in(
        &mut self,
        fact: &Fact,
        event: Option<&Event>,
        part: Part,
    ) -> Result<(), StoreError> {
        // Its identifier is known before the row is made.
        if part.has(fact.event_id)
            && (event.is_some() || !has_analytic_rows(&fact.kind))
            && let Some(row) = EventRow::of(fact)
        {
            add(&mut self.events, &row, part)?;
        }
        let Some(event) = event else { return Ok(()) };
        let mut ended = Invocations::default();
        ended.take(fact, event).map_err(|cause| refused(NAME, cause))?;
        for row in ended.rows() {
            add(&mut self.invocations, &row, part)?;
        }
        if let Some(row) = UsageRow::of(fact, event) {
            add(&mut self.usage, &row, part)?;
        }
        Ok(())
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
    table::<InvocationRow>(store, part, comparison::<InvocationRow>(cursor, invocations, findings)).await?;
    table::<EventRow>(store, part, comparison::<EventRow>(cursor, events, findings)).await?;
    table::<UsageRow>(store, part, comparison::<UsageRow>(cursor, usage, findings)).await
}

fn comparison<R: Analytic>(cursor: u64, expected: Table, findings: &mut Findings) -> Comparison<'_> {
    Comparison::new(Place { store: NAME, table: R::TABLE }, told::<R>, cursor, expected, findings)
}

async fn table<R>(store: &ClickHouse, part: Part, mut comparison: Comparison<'_>) -> Result<(), StoreError>
where
    R: Analytic + RowOwned + RowRead + Serialize,
    for<'a> R: ::clickhouse::Row<Value<'a> = R>,
{
    let mut conditions = vec![match comparison.after() {
        0 => "true".to_owned(),
        after => format!("sequence > {after}"),
    }];
    if let Some(tenant) = comparison.tenant() {
        conditions.push(format!("tenant_id = '{tenant}'"));
    }
    read::<R>(store, part, &conditions.join(" and "), &mut comparison).await?;
    for ids in comparison.lacking().chunks(IDS) {
        let ids: Vec<_> = ids.iter().map(|id| format!("'{id}'")).collect();
        let among = format!("{} in ({})", R::KEY[2], ids.join(", "));
        read::<R>(store, part, &among, &mut comparison).await?;
    }
    comparison.end();
    Ok(())
}

async fn read<R>(
    store: &ClickHouse,
    part: Part,
    condition: &str,
    comparison: &mut Comparison<'_>,
) -> Result<(), StoreError>
where
    R: Analytic + RowOwned + RowRead + Serialize,
    for<'a> R: ::clickhouse::Row<Value<'a> = R>,
{
    let failed = |error: ::clickhouse::error::Error| explain(&error);
    let select = format!("select ?fields from {} final where {condition}", R::TABLE);
    let mut found = store.client.query(&select).fetch::<R>().map_err(failed)?;
    while let Some(row) = found.next().await.map_err(failed)? {
        if part.has(row.key().2) && !is_forgotten(&row) {
            comparison.found(row.key(), &compared(&row)?);
        }
    }
    Ok(())
}

/// Whether it is so old that the server may have dropped it, or is about to.
fn is_forgotten<R: Analytic>(row: &R) -> bool {
    row.at() < Utc::now() - TimeDelta::days(R::KEPT_DAYS)
}

/// As it is sent to the server, its key included; times are milliseconds.
fn compared<R: Analytic + Serialize>(row: &R) -> Result<Row, StoreError> {
    let text = serde_json::to_string(row).map_err(|error| refused(NAME, error))?;
    Ok(Row { sequence: row.sequence(), text })
}

fn told<R: Analytic>(text: &str) -> Vec<(&'static str, Value)> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let column = |name: &'static str| {
        let value = fields.remove(name).unwrap_or_default();
        (name, if name == "at" || name.ends_with("_at") { time(value) } else { value })
    };
    R::COLUMN_NAMES.iter().copied().filter(|name| !R::KEY.contains(name)).map(column).collect()
}

/// Milliseconds as a time that people can read.
fn time(value: Value) -> Value {
    value.as_i64().and_then(DateTime::from_timestamp_millis).map_or(value, |time| time.cell())
}
