//! Rows that grow as their facts arrive: folded by key in memory, then written by one upsert per table.

use std::collections::BTreeMap;

use oxagen_domain::Fact;
use serde_json::Value;
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query;
use uuid::Uuid;

/// A statement under construction.
pub(crate) type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Tenant, workspace and the row's own identifier.
pub(crate) type Key = (Uuid, Uuid, Uuid);

/// A column besides the key and `sequence`.
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: &'static str,
    /// The column that it goes with: whenever that one is written this one is too, and empty is then a value. It may be
    /// written alone, too.
    pub(crate) with: Option<&'static str>,
}

/// A row of a table. Made by [`table!`].
pub(crate) trait Table: Default {
    /// The table, with its schema.
    const NAME: &'static str;
    /// Its columns besides the key and `sequence`.
    const COLUMNS: &'static [Column];

    /// Notes the last fact that went into it.
    fn set_sequence(&mut self, seq: u64);
    /// That fact's `seq`.
    fn sequence(&self) -> u64;
    /// Adds an array for each column.
    fn bind<'q>(rows: &[&Self], statement: Statement<'q>) -> Statement<'q>;
    /// Its columns as they are compared and shown.
    fn cells(&self) -> Vec<(&'static str, Value)>;
    /// By what it is told which part of the table it belongs to when a table is looked at in parts.
    fn part_of(key: &Key, row: &Self) -> Uuid;
    /// The row as the table has it.
    fn read(row: &PgRow) -> Result<Self, sqlx::Error>;
}

/// Declares a row, its table and its columns. A column that no fact in a batch speaks of keeps its value, except
/// `column: Type => other`, which is written whenever `other` is. `by column`: rows that say
/// the same there are looked at together.
macro_rules! table {
    ($(#[$doc:meta])* $row:ident in $table:literal $(by $part:ident)? { $($column:ident: $type:ty $(=> $other:ident)?),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $row {
            sequence: u64,
            $(pub(crate) $column: Option<$type>,)+
        }

        impl $crate::table::Table for $row {
            const NAME: &'static str = $table;
            const COLUMNS: &'static [$crate::table::Column] = &[$($crate::table::Column {
                name: stringify!($column),
                with: [$(Some(stringify!($other)),)? None][0],
            }),+];

            fn set_sequence(&mut self, seq: u64) {
                self.sequence = seq;
            }

            fn sequence(&self) -> u64 {
                self.sequence
            }

            fn bind<'q>(rows: &[&Self], statement: $crate::table::Statement<'q>) -> $crate::table::Statement<'q> {
                $(let statement = statement.bind(rows.iter().map(|row| row.$column.clone()).collect::<Vec<_>>());)+
                statement
            }

            fn cells(&self) -> Vec<(&'static str, ::serde_json::Value)> {
                vec![$((stringify!($column), $crate::cell::Cell::cell(&self.$column))),+]
            }

            fn part_of(key: &$crate::table::Key, row: &Self) -> ::uuid::Uuid {
                let _ = row;
                [$(row.$part,)? Some(key.2)][0].unwrap_or(key.2)
            }

            fn read(row: &::sqlx::postgres::PgRow) -> Result<Self, ::sqlx::Error> {
                let sequence: i64 = ::sqlx::Row::try_get(row, "sequence")?;
                Ok(Self {
                    sequence: sequence.unsigned_abs(),
                    $($column: ::sqlx::Row::try_get(row, stringify!($column))?,)+
                })
            }
        }
    };
}
pub(crate) use table;

/// The rows of one table that a batch of facts touches.
#[derive(Debug, PartialEq)]
pub(crate) struct Rows<R>(BTreeMap<Key, R>);

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R: Table> Rows<R> {
    /// The row with this identifier, in the fact's workspace, to be changed by the fact.
    pub(crate) fn at(&mut self, fact: &Fact, id: Uuid) -> &mut R {
        let row = self.0.entry((fact.tenant_id.0, fact.workspace_id.0, id)).or_default();
        row.set_sequence(fact.seq);
        row
    }

    /// Keeps the rows that are wanted.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(&Key, &R) -> bool) {
        self.0.retain(|key, row| wanted(key, row));
    }

    /// The rows, to be changed by what other facts say of them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Key, &mut R)> {
        self.0.iter_mut()
    }

    /// Takes the rows out, by key.
    pub(crate) fn take_all(&mut self) -> BTreeMap<Key, R> {
        std::mem::take(&mut self.0)
    }

    /// Writes them. A repeat changes nothing. `shadow` goes before the schema's name.
    pub(crate) async fn write(&self, connection: &mut PgConnection, shadow: &str) -> Result<(), sqlx::Error> {
        if self.0.is_empty() {
            return Ok(());
        }
        let sql = upsert::<R>(shadow);
        let rows: Vec<&R> = self.0.values().collect();
        let keys = |part: fn(&Key) -> Uuid| self.0.keys().map(part).collect::<Vec<_>>();
        let statement = sqlx::query(&sql)
            .bind(keys(|key| key.0))
            .bind(keys(|key| key.1))
            .bind(keys(|key| key.2))
            .bind(rows.iter().map(|row| row.sequence().cast_signed()).collect::<Vec<_>>());
        R::bind(&rows, statement).execute(connection).await.map(drop)
    }

    #[cfg(test)]
    pub(crate) fn get(&self, id: Uuid) -> &R {
        self.0.iter().find(|(key, _)| key.2 == id).map(|(_, row)| row).unwrap()
    }
}

/// What a later fact says counts. An earlier one, which comes again or comes late as a mended dead letter, only
/// fills what nobody has spoken of; so the order in which facts come does not matter.
const LATER: &str = "t.sequence < excluded.sequence";

fn upsert<R: Table>(shadow: &str) -> String {
    let names: Vec<_> = R::COLUMNS.iter().map(|column| column.name).collect();
    let arrays: Vec<_> = (1..=names.len() + 4).map(|n| format!("${n}")).collect();
    let changes = R::COLUMNS.iter().map(|Column { name, with }| {
        let (new, old) = (format!("excluded.{name}"), format!("t.{name}"));
        match with {
            None => format!(
                "{name} = case when {LATER} then coalesce({new}, {old}) else coalesce({old}, {new}) end"
            ),
            Some(other) => format!(
                "{name} = case when {LATER} and excluded.{other} is not null then {new} \
                 when {LATER} then coalesce({new}, {old}) else {old} end"
            ),
        }
    });
    format!(
        "insert into {shadow}{} as t (tenant_id, workspace_id, id, sequence, {}) select * from unnest({})
         on conflict (tenant_id, workspace_id, id) do update
         set sequence = greatest(t.sequence, excluded.sequence), {}",
        R::NAME,
        names.join(", "),
        arrays.join(", "),
        changes.collect::<Vec<_>>().join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    table! {
        /// A thing.
        Thing in "a.things" { name: String, error: String => name }
    }

    #[test]
    fn later_facts_win_and_earlier_ones_fill_what_is_empty() {
        let sql = upsert::<Thing>("");
        let words: Vec<_> = sql.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "insert into a.things as t (tenant_id, workspace_id, id, sequence, name, error) \
             select * from unnest($1, $2, $3, $4, $5, $6) \
             on conflict (tenant_id, workspace_id, id) do update \
             set sequence = greatest(t.sequence, excluded.sequence), \
             name = case when t.sequence < excluded.sequence then coalesce(excluded.name, t.name) \
             else coalesce(t.name, excluded.name) end, \
             error = case when t.sequence < excluded.sequence and excluded.name is not null \
             then excluded.error when t.sequence < excluded.sequence then coalesce(excluded.error, t.error) \
             else t.error end"
        );
    }
}
