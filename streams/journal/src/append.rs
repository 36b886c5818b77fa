//! Appending: all events of a commit in one statement, with the versions it relies on still standing.

use std::collections::BTreeMap;

use fail::fail_point;
use oxagen_domain::{Fact, Metadata};
use serde_json::Value;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row};
use uuid::Uuid;

use crate::error::{JournalError, code};
use crate::journal::Journal;
use crate::lock;

/// An event about to be committed.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The kind of aggregate.
    pub aggregate_type: &'static str,
    /// The aggregate's identifier.
    pub aggregate_id: String,
    /// The aggregate's version after this event: the loaded version plus one, plus two …
    pub version: u64,
    /// `<aggregate>.<event>`.
    pub kind: &'static str,
    /// Version of the payload's form.
    pub form: u32,
    /// The event as serde writes it, its `type` tag included.
    pub payload: Value,
    /// Whose it is, who caused it, and when.
    pub metadata: Metadata,
}

/// An aggregate that must still stand at this version when the commit happens, written by it or not.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The kind of aggregate.
    pub aggregate_type: &'static str,
    /// The aggregate's identifier.
    pub aggregate_id: String,
    /// The version that the decision rests on; 0 means that it must not exist.
    pub version: u64,
}

/// A committed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its identifier, the same as the fact's.
    pub event_id: Uuid,
    /// The aggregate's version after it.
    pub version: u64,
    /// Its physical place; not an order to read by, that is `seq`.
    pub position: u64,
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was faster: load again and decide again.
    #[error("somebody else changed the same thing at the same time; load it again and decide again")]
    Conflict,
    /// What the decision rested on has changed: load again and decide again.
    #[error(
        "{aggregate_type} {aggregate_id} changed while the decision was made; load it again and decide again"
    )]
    GuardFailed {
        /// The kind of aggregate.
        aggregate_type: &'static str,
        /// Its identifier.
        aggregate_id: String,
    },
    /// No answer in time. The commit may have happened: a repeat meets [`AppendError::Conflict`] then.
    #[error("the journal (Postgres) is unavailable: {source}; whether the commit happened is unknown")]
    Unavailable {
        /// What the driver said.
        source: sqlx::Error,
    },
    /// Anything else; a retry will not help.
    #[error(transparent)]
    Journal(JournalError),
}

impl From<JournalError> for AppendError {
    fn from(error: JournalError) -> Self {
        if let JournalError::Unavailable { source } = error {
            return Self::Unavailable { source };
        }
        Self::Journal(error)
    }
}

impl From<sqlx::Error> for AppendError {
    /// Any unique violation is a lost race, for the table has no other; so is being picked in a deadlock.
    fn from(error: sqlx::Error) -> Self {
        match code(&error).as_deref() {
            Some("23505" | "40001" | "40P01") => Self::Conflict,
            _ => JournalError::from(error).into(),
        }
    }
}

/// Takes the locks, in the order given, and says nothing.
const LOCK: &str = "
select count(case when exclusive then pg_advisory_xact_lock(key)::text else pg_advisory_xact_lock_shared(key)::text end)
from unnest($1::int8[], $2::bool[]) as l (key, exclusive)";

/// The first guard that no longer stands.
const CHECK: &str = "
select g.nth from unnest($1::text[], $2::text[], $3::int8[]) with ordinality as g (type, id, version, nth)
where g.version <> coalesce((select max(e.sequence) from journal.events e
                             where e.aggregate_type = g.type and e.aggregate_id = g.id), 0)
order by g.nth limit 1";

/// Locks first (the join needs their count before any row gets its position), then inserts in order.
const INSERT: &str = "
with locked as materialized (
  select count(case when exclusive then pg_advisory_xact_lock(key)::text else pg_advisory_xact_lock_shared(key)::text end) as held
  from unnest($1::int8[], $2::bool[]) as l (key, exclusive))
insert into journal.events
  (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, occurred_at)
select e.aggregate_type, e.aggregate_id, e.sequence, e.kind, e.form, e.payload::json, e.metadata::json, e.occurred_at
from locked, unnest($3::text[], $4::text[], $5::int8[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[])
  with ordinality as e (aggregate_type, aggregate_id, sequence, kind, form, payload, metadata, occurred_at, nth)
order by e.nth
returning position";

/// Inserts in order, unless a guard no longer stands. The locks are held already, by a statement before: this one's
/// snapshot must be younger than they are.
const GUARDED: &str = "
insert into journal.events
  (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, occurred_at)
select e.aggregate_type, e.aggregate_id, e.sequence, e.kind, e.form, e.payload::json, e.metadata::json, e.occurred_at
from unnest($1::text[], $2::text[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
  with ordinality as e (aggregate_type, aggregate_id, sequence, kind, form, payload, metadata, occurred_at, nth)
where not exists (
  select from unnest($9::text[], $10::text[], $11::int8[]) as g (type, id, version)
  where g.version <> coalesce((select max(e.sequence) from journal.events e
                               where e.aggregate_type = g.type and e.aggregate_id = g.id), 0))
order by e.nth
returning position";

impl Journal {
    /// Appends all events of a commit, of one aggregate or several, or none of them.
    ///
    /// Every writer of an aggregate holds an exclusive advisory lock on it until its commit, every guard a
    /// shared one: a guard therefore waits for a writer in flight and then sees what it wrote, and a later
    /// writer waits until the guarded commit is done. Guards do not disturb each other, and as all locks of
    /// a commit are taken in the order of their keys nobody waits in a circle.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] and [`AppendError::GuardFailed`] ask for a new decision; with
    /// [`AppendError::Unavailable`] it is unknown whether the commit happened.
    pub async fn append(
        &self,
        events: Vec<NewEvent>,
        guards: &[Guard],
    ) -> Result<Vec<Appended>, AppendError> {
        let locks = locks(&events, guards);
        let rows = if guards.is_empty() {
            let insert = bind(sqlx::query(INSERT).bind(&locks.keys).bind(&locks.exclusive), &events);
            self.bounded(async { Ok::<_, AppendError>(insert.fetch_all(self.pool()).await?) }).await?
        } else {
            self.bounded(self.guarded(&locks, guards, &events)).await?
        };
        fail_point!("journal.committed", |_| std::process::abort());
        self.ring();
        let appended = |(event, row): (&NewEvent, &PgRow)| {
            Ok(Appended {
                event_id: Fact::event_id(event.aggregate_type, &event.aggregate_id, event.version),
                version: event.version,
                position: row.try_get::<i64, _>("position")?.unsigned_abs(),
            })
        };
        events.iter().zip(&rows).map(appended).collect()
    }

    async fn guarded(
        &self,
        locks: &Locks,
        guards: &[Guard],
        events: &[NewEvent],
    ) -> Result<Vec<PgRow>, AppendError> {
        let mut transaction = self.pool().begin().await?;
        sqlx::query(LOCK).bind(&locks.keys).bind(&locks.exclusive).execute(&mut *transaction).await?;
        let insert = bind_guards(bind(sqlx::query(GUARDED), events), guards);
        let rows = insert.fetch_all(&mut *transaction).await?;
        if rows.is_empty() {
            if let Some(Guard { aggregate_type, aggregate_id, .. }) = fallen(&mut transaction, guards).await?
            {
                transaction.rollback().await?;
                return Err(AppendError::GuardFailed { aggregate_type, aggregate_id: aggregate_id.clone() });
            }
            if !events.is_empty() {
                transaction.rollback().await?;
                return Err(AppendError::Conflict);
            }
        }
        transaction.commit().await?;
        Ok(rows)
    }
}

/// The locks of a commit, ascending by key.
struct Locks {
    keys: Vec<i64>,
    exclusive: Vec<bool>,
}

fn locks(events: &[NewEvent], guards: &[Guard]) -> Locks {
    let key = |kind: &str, id: &str| lock::key("aggregate", &[kind, id]);
    let shared = guards.iter().map(|guard| (key(guard.aggregate_type, &guard.aggregate_id), false));
    let written = events.iter().map(|event| (key(event.aggregate_type, &event.aggregate_id), true));
    // What is both guarded and written is locked once, as written: a lock is never raised later.
    let (keys, exclusive) = shared.chain(written).collect::<BTreeMap<_, _>>().into_iter().unzip();
    Locks { keys, exclusive }
}

async fn fallen<'g>(
    connection: &mut PgConnection,
    guards: &'g [Guard],
) -> Result<Option<&'g Guard>, sqlx::Error> {
    let check = bind_guards(sqlx::query(CHECK), guards).fetch_optional(connection).await?;
    let nth = check.map(|row| row.try_get::<i64, _>("nth")).transpose()?;
    Ok(nth.and_then(|nth| guards.get(usize::try_from(nth - 1).ok()?)))
}

fn bind_guards<'q>(
    statement: Query<'q, Postgres, PgArguments>,
    guards: &[Guard],
) -> Query<'q, Postgres, PgArguments> {
    statement
        .bind(guards.iter().map(|guard| guard.aggregate_type).collect::<Vec<_>>())
        .bind(guards.iter().map(|guard| guard.aggregate_id.clone()).collect::<Vec<_>>())
        .bind(guards.iter().map(|guard| guard.version.cast_signed()).collect::<Vec<_>>())
}

fn bind<'q>(
    statement: Query<'q, Postgres, PgArguments>,
    events: &[NewEvent],
) -> Query<'q, Postgres, PgArguments> {
    let texts = |text: fn(&NewEvent) -> String| events.iter().map(text).collect::<Vec<_>>();
    statement
        .bind(texts(|event| event.aggregate_type.to_owned()))
        .bind(texts(|event| event.aggregate_id.clone()))
        .bind(events.iter().map(|event| event.version.cast_signed()).collect::<Vec<_>>())
        .bind(texts(|event| event.kind.to_owned()))
        .bind(texts(|event| event.form.to_string()))
        .bind(texts(|event| storable(event.payload.to_string(), &event.payload)))
        .bind(texts(|event| {
            let metadata = Value::from_iter(event.metadata.to_map());
            storable(metadata.to_string(), &metadata)
        }))
        .bind(events.iter().map(|event| event.metadata.occurred_at).collect::<Vec<_>>())
}

/// Postgres cannot read a NUL character out of JSON: it becomes U+FFFD, and the commit goes through.
fn storable(text: String, value: &Value) -> String {
    if text.contains("\\u0000") { without_nul(value).to_string() } else { text }
}

fn without_nul(value: &Value) -> Value {
    let clean = |text: &str| text.replace('\0', "\u{FFFD}");
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => items.iter().map(without_nul).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (clean(name), without_nul(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nul_characters_are_replaced_wherever_they_are() {
        let value = json!({"a\0": ["x\0y", {"b": "\0"}], "n": 1});
        assert_eq!(
            storable(value.to_string(), &value),
            "{\"a\u{FFFD}\":[\"x\u{FFFD}y\",{\"b\":\"\u{FFFD}\"}],\"n\":1}"
        );
        let value = json!("a written-out \\u0000 stays");
        assert_eq!(storable(value.to_string(), &value), value.to_string());
    }
}
