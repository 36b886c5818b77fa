//! Facts that a reader could not take in after several attempts. The rest of the stream goes on without them.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::FromRow;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::error::JournalError;
use crate::journal::Journal;

/// A fact that a reader gave up on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// Who gave up, such as `projector-postgres`.
    pub reader: String,
    /// The fact.
    pub seq: u64,
    /// What the last attempt said.
    pub error: String,
    /// Number of attempts.
    pub attempts: u32,
    /// The first attempt.
    pub first_at: DateTime<Utc>,
    /// The last attempt.
    pub last_at: DateTime<Utc>,
}

impl FromRow<'_, PgRow> for DeadLetter {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            reader: row.try_get("reader")?,
            seq: row.try_get::<i64, _>("seq")?.unsigned_abs(),
            error: row.try_get("error")?,
            attempts: row.try_get::<i32, _>("attempts")?.unsigned_abs(),
            first_at: row.try_get("first_at")?,
            last_at: row.try_get("last_at")?,
        })
    }
}

/// The dead letters of all readers.
pub struct DeadLetters<'a>(&'a Journal);

impl Journal {
    /// Facts that readers gave up on.
    pub fn dead_letters(&self) -> DeadLetters<'_> {
        DeadLetters(self)
    }
}

impl DeadLetters<'_> {
    /// Buries a fact. A second burial by the same reader counts its attempts on top.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn bury(&self, letter: &DeadLetter) -> Result<(), JournalError> {
        const BURY: &str = "
            insert into journal.dead_letters as d (reader, seq, error, attempts, first_at, last_at)
            values ($1, $2, $3, $4, $5, $6)
            on conflict (reader, seq) do update
            set error = excluded.error, attempts = d.attempts + excluded.attempts, last_at = excluded.last_at";
        let bury = sqlx::query(BURY)
            .bind(&letter.reader)
            .bind(letter.seq.cast_signed())
            .bind(letter.error.replace('\0', "\u{FFFD}"))
            .bind(letter.attempts.cast_signed())
            .bind(letter.first_at)
            .bind(letter.last_at);
        self.0.bounded(async { Ok(bury.execute(self.0.pool()).await.map(drop)?) }).await
    }

    /// The dead letters of one reader, or of all, oldest fact first; at most `limit`.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn list(&self, reader: Option<&str>, limit: u32) -> Result<Vec<DeadLetter>, JournalError> {
        const LIST: &str = "
            select reader, seq, error, attempts, first_at, last_at from journal.dead_letters
            where $1::text is null or reader = $1 order by seq, reader limit $2";
        let list = sqlx::query_as(LIST).bind(reader).bind(i64::from(limit));
        self.0.bounded(async { Ok(list.fetch_all(self.0.pool()).await?) }).await
    }

    /// One dead letter.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn show(&self, reader: &str, seq: u64) -> Result<Option<DeadLetter>, JournalError> {
        const SHOW: &str = "
            select reader, seq, error, attempts, first_at, last_at from journal.dead_letters
            where reader = $1 and seq = $2";
        let show = sqlx::query_as(SHOW).bind(reader).bind(seq.cast_signed());
        self.0.bounded(async { Ok(show.fetch_optional(self.0.pool()).await?) }).await
    }

    /// Digs a fact out and gives back its letter, for the reader to try once more.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn retry(&self, reader: &str, seq: u64) -> Result<Option<DeadLetter>, JournalError> {
        const RETRY: &str = "
            delete from journal.dead_letters where reader = $1 and seq = $2
            returning reader, seq, error, attempts, first_at, last_at";
        let retry = sqlx::query_as(RETRY).bind(reader).bind(seq.cast_signed());
        self.0.bounded(async { Ok(retry.fetch_optional(self.0.pool()).await?) }).await
    }

    /// Forgets a dead letter for good; says whether there was one.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn discard(&self, reader: &str, seq: u64) -> Result<bool, JournalError> {
        Ok(self.retry(reader, seq).await?.is_some())
    }
}
