//! Postgres: the journal and the views, migrated by sqlx in one transaction each, and undone the same way.

use std::future::Future;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use sqlx::Connection;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationSource, MigrationType, Migrator};
use sqlx::postgres::PgConnection;
use tokio::time::timeout;

use crate::error::MigrationError;
use crate::file::{self, File};
use crate::{Report, adopt, reader};

const STORE: &str = "Postgres";
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Which database, and who may change it.
#[derive(Clone, Debug)]
pub struct PostgresTarget {
    /// The database, as the user that will own its tables and use them.
    pub url: String,
    /// Any database of the same cluster, as a superuser; only used when that user may not make roles.
    pub admin_url: Option<String>,
    /// Take over a journal that was written on another cluster.
    pub adopt: bool,
}

/// Brings the database to this program's version.
///
/// # Errors
/// [`MigrationError`] says what stopped it; each migration is applied whole or not at all.
pub async fn postgres(target: &PostgresTarget) -> Result<Report, MigrationError> {
    let files = Files::read()?;
    let mut connection = connect(&target.url).await?;
    reader::ensure(&mut connection, target.admin_url.as_deref()).await?;
    let from = applied(&mut connection).await?.last().map_or(0, |(version, _)| *version);
    let (newest, migrator) = (files.newest(), files.migrator().await?);
    migrator.run_direct(&mut connection).await.map_err(|error| explain(error, newest))?;
    adopt::ensure(&mut connection, target.adopt).await?;
    close(connection).await;
    Ok(Report { from, to: newest })
}

/// Makes sure that the database is at this program's version; every role asks at its start.
///
/// # Errors
/// [`MigrationError::Behind`], [`MigrationError::Newer`] or [`MigrationError::Changed`].
pub async fn check(url: &str) -> Result<(), MigrationError> {
    let files = Files::read()?;
    let mut connection = connect(url).await?;
    let applied = applied(&mut connection).await?;
    close(connection).await;
    let migrations = files.migrations();
    for (found, checksum) in &applied {
        match migrations.iter().find(|migration| migration.version == *found) {
            Some(migration) if migration.checksum.as_ref() == checksum.as_slice() => {}
            Some(_) => return Err(MigrationError::Changed { store: STORE, version: *found }),
            None => {
                return Err(MigrationError::Newer { store: STORE, found: *found, wanted: files.newest() });
            }
        }
    }
    let found = applied.last().map_or(0, |(version, _)| *version);
    if found < files.newest() {
        return Err(MigrationError::Behind { found, wanted: files.newest() });
    }
    Ok(())
}

/// Undoes every migration above `target`, newest first. What their tables held is lost.
///
/// # Errors
/// [`MigrationError`] says what stopped it.
pub async fn undo(url: &str, target: i64) -> Result<Report, MigrationError> {
    let files = Files::read()?;
    let mut connection = connect(url).await?;
    let from = applied(&mut connection).await?.last().map_or(0, |(version, _)| *version);
    let (newest, migrator) = (files.newest(), files.migrator().await?);
    migrator.undo(&mut connection, target).await.map_err(|error| explain(error, newest))?;
    close(connection).await;
    Ok(Report { from, to: target.min(from) })
}

/// The version that this program wants.
///
/// # Errors
/// [`MigrationError::File`] when this build's own files are misnamed.
pub fn version() -> Result<i64, MigrationError> {
    Ok(Files::read()?.newest())
}

/// The files, up and down, in the order of their numbers.
#[derive(Debug)]
struct Files(Vec<(i64, &'static str, &'static str, &'static str)>);

impl Files {
    fn read() -> Result<Self, MigrationError> {
        let half = |end: &'static str| {
            let files = file::POSTGRES.iter().copied().filter(move |(name, _)| name.ends_with(end));
            file::numbered(STORE, files)
        };
        let (up, down) = (half(".up.sql")?, half(".down.sql")?);
        let pair = |file: File| {
            let stem = file.name.trim_end_matches(".up.sql");
            let back = down.iter().find(|down| down.name.trim_end_matches(".down.sql") == stem);
            let cause = "it has no .down.sql beside it".to_owned();
            let back =
                back.ok_or(MigrationError::File { store: STORE, name: file.name.to_owned(), cause })?;
            Ok((file.version, stem, file.text, back.text))
        };
        Ok(Self(up.into_iter().map(pair).collect::<Result<_, _>>()?))
    }

    fn newest(&self) -> i64 {
        self.0.last().map_or(0, |(version, ..)| *version)
    }

    /// The upward halves, as sqlx has them.
    fn migrations(&self) -> Vec<Migration> {
        let up = |(version, stem, up, _): &(i64, &'static str, &'static str, &'static str)| {
            Migration::new(*version, (*stem).into(), MigrationType::ReversibleUp, (*up).into(), false)
        };
        self.0.iter().map(up).collect()
    }

    async fn migrator(self) -> Result<Migrator, MigrationError> {
        let newest = self.newest();
        Migrator::new(self).await.map_err(|error| explain(error, newest))
    }
}

impl MigrationSource<'static> for Files {
    fn resolve(self) -> BoxFuture<'static, Result<Vec<Migration>, Box<dyn std::error::Error + Send + Sync>>> {
        let mut both = self.migrations();
        both.extend(self.0.iter().map(|(version, stem, _, down)| {
            Migration::new(*version, (*stem).into(), MigrationType::ReversibleDown, (*down).into(), false)
        }));
        both.sort_by_key(|migration| migration.version);
        std::future::ready(Ok(both)).boxed()
    }
}

/// Opens a connection, waiting a bounded time.
pub(crate) async fn connect(url: &str) -> Result<PgConnection, MigrationError> {
    let opened = timeout(CONNECT, PgConnection::connect(url)).await;
    let cause = match opened {
        Ok(Ok(connection)) => return Ok(connection),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", CONNECT.as_secs()),
    };
    Err(MigrationError::Unavailable { store: STORE, cause })
}

/// Turns a driver's complaint outside any migration into ours.
pub(crate) async fn asked<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, MigrationError> {
    answer.await.map_err(|error| MigrationError::Unavailable { store: STORE, cause: error.to_string() })
}

/// Versions applied so far, ascending, with the checksums of their texts.
async fn applied(connection: &mut PgConnection) -> Result<Vec<(i64, Vec<u8>)>, MigrationError> {
    let ledger =
        sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null").fetch_one(&mut *connection);
    if !asked(ledger).await? {
        return Ok(Vec::new());
    }
    let applied = connection.list_applied_migrations().await.map_err(|error| explain(error, 0))?;
    Ok(applied.into_iter().map(|migration| (migration.version, migration.checksum.into_owned())).collect())
}

/// Says goodbye; what was done is done, so a failure to do so does not matter.
async fn close(connection: PgConnection) {
    let _ = connection.close().await;
}

fn explain(error: MigrateError, newest: i64) -> MigrationError {
    if let MigrateError::VersionMissing(found) = error {
        return MigrationError::Newer { store: STORE, found, wanted: newest };
    }
    if let MigrateError::VersionMismatch(version) = error {
        return MigrationError::Changed { store: STORE, version };
    }
    if let MigrateError::ExecuteMigration(error, version) = error {
        return MigrationError::Failed { store: STORE, version, cause: error.to_string() };
    }
    MigrationError::Unavailable { store: STORE, cause: error.to_string() }
}
