//! ClickHouse: plain files, statement by statement. Every statement must bear being applied twice
//! (`if not exists`), for ClickHouse has no transactions and a crash may fall between two of them.

use std::future::Future;
use std::time::Duration;

use clickhouse::{Client, Row};
use serde::Deserialize;
use tokio::time::timeout;

use crate::Report;
use crate::error::MigrationError;
use crate::file;

const STORE: &str = "ClickHouse";
/// Longest wait for one statement.
const ANSWER: Duration = Duration::from_secs(60);

const LEDGER: &str = "
create table if not exists oxagen_migrations
  (version Int64, checksum String, applied_at DateTime64(3, 'UTC') default now64(3, 'UTC'))
engine = ReplacingMergeTree order by version";

#[derive(Row, Deserialize)]
struct Applied {
    version: i64,
    checksum: String,
}

/// Brings a ClickHouse database, made if it is missing, to this program's version.
///
/// # Errors
/// [`MigrationError`] says what stopped it; it may be run again.
pub async fn clickhouse(
    url: &str,
    user: &str,
    password: &str,
    database: &str,
) -> Result<Report, MigrationError> {
    let files = file::numbered(STORE, file::CLICKHOUSE.iter().copied())?;
    let client = Client::default().with_url(url).with_user(user).with_password(password);
    let make = client.query("create database if not exists ?").bind(clickhouse::sql::Identifier(database));
    asked(make.execute()).await?;
    let client = client.with_database(database);
    asked(client.query(LEDGER).execute()).await?;
    let applied = client.query("select version, checksum from oxagen_migrations final order by version");
    let applied: Vec<_> = asked(applied.fetch_all::<Applied>()).await?;
    let applied: Vec<_> = applied.into_iter().map(|row| (row.version, row.checksum)).collect();
    for file in file::pending(STORE, &files, &applied)? {
        for statement in file.statements("--") {
            // The driver reads `?` as a placeholder; a migration has none.
            asked(client.query(&statement.replace('?', "??")).execute())
                .await
                .map_err(|error| error.during(file.version))?;
        }
        let done = client.query("insert into oxagen_migrations (version, checksum) values (?, ?)");
        asked(done.bind(file.version).bind(file.checksum()).execute()).await?;
    }
    let from = applied.last().map_or(0, |(version, _)| *version);
    Ok(Report { from, to: file::newest(&files) })
}

async fn asked<T>(
    answer: impl Future<Output = Result<T, clickhouse::error::Error>>,
) -> Result<T, MigrationError> {
    let cause = match timeout(ANSWER, answer).await {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", ANSWER.as_secs()),
    };
    Err(MigrationError::Unavailable { store: STORE, cause })
}
