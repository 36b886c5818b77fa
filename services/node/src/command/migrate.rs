//! `oxagen migrate`: brings every store up to this version, and says what it did.

use std::future::Future;
use std::time::Duration;

use clap::Args;
use oxagen_jetstream::topology;
use oxagen_journal::{Journal, JournalOptions};
use oxagen_migrations::{self as migrations, MigrationError, PostgresTarget, Report};
use serde_json::json;
use tokio::time::timeout;

use super::Desk;
use crate::config::{Config, Log, need};
use crate::failure::Failure;
use crate::output::{Output, note};
use crate::progress;
use crate::serve::waiting::Server;
use crate::serve::{self, log};

/// How long a server that is away is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// `migrate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  oxagen migrate\n  oxagen migrate --adopt     after the journal was copied here from another \
    Postgres cluster\n\nIt may be run at any time, and again: what is up to date is left alone. A store whose address is not set is left out."
)]
pub(crate) struct Migrate {
    /// Take over a journal that was written on another Postgres cluster; stop every other process first
    #[arg(long)]
    adopt: bool,
}

/// Migrates.
pub(super) async fn migrate(desk: &Desk, migrate: &Migrate) -> Result<(), Failure> {
    let config = &desk.configured.config;
    log::start(&Log { format: "human".to_owned(), filter: "warn".to_owned() })?;
    all(config, migrate.adopt, desk.out).await
}

/// Brings every store up to this version.
pub(super) async fn all(config: &Config, adopt: bool, out: Output) -> Result<(), Failure> {
    for (name, url) in databases(config)? {
        let target =
            PostgresTarget { url: url.to_owned(), admin_url: config.postgres.admin_url.clone(), adopt };
        let report =
            store(&Server::new("Postgres", url, "DATABASE_URL"), || migrations::postgres(&target)).await?;
        tell(out, name, report)?;
    }
    match &config.clickhouse.url {
        None => note("ClickHouse: left out, CLICKHOUSE_URL is not set"),
        Some(url) => {
            let at = &config.clickhouse;
            let migrated = || migrations::clickhouse(url, &at.user, &at.password, &at.database);
            tell(
                out,
                "ClickHouse",
                store(&Server::new("ClickHouse", url, "CLICKHOUSE_URL"), migrated).await?,
            )?;
        }
    }
    match &config.neo4j.url {
        None => note("Neo4j: left out, NEO4J_URL is not set"),
        Some(url) => {
            let migrated = || migrations::neo4j(url, &config.neo4j.user, &config.neo4j.password);
            tell(out, "Neo4j", store(&Server::new("Neo4j", url, "NEO4J_URL"), migrated).await?)?;
        }
    }
    if config.nats.url.is_none() {
        note("JetStream: left out, NATS_URL is not set");
        return Ok(());
    }
    progress::during("making the streams", bounded("NATS", streams(config))).await?;
    let names: Vec<_> = topology::STREAMS.iter().map(|stream| stream.name).collect();
    if out.is_json() {
        return out.value(&json!({ "store": "JetStream", "streams": names }));
    }
    out.line(format!("JetStream: the streams {} are as they should be", names.join(" and ")))
}

/// The read models, and the journal when it is elsewhere.
fn databases(config: &Config) -> Result<Vec<(&'static str, &str)>, Failure> {
    let views = need(config.postgres.url.as_ref(), "postgres.url")?;
    Ok(match config.postgres.journal_url.as_deref().filter(|journal| *journal != views) {
        None => vec![("Postgres", views)],
        Some(journal) => vec![("Postgres (journal)", journal), ("Postgres (read models)", views)],
    })
}

async fn store<F: Future<Output = Result<Report, MigrationError>>>(
    server: &Server,
    migrate: impl Fn() -> F,
) -> Result<Report, Failure> {
    let migrated = server.until_it_answers(|| async { Ok(migrate().await?) });
    progress::during(&format!("migrating {}", server.what), bounded(server.what, migrated)).await
}

async fn bounded<T>(what: &str, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(PATIENCE, work).await.unwrap_or_else(|_| {
        Err(Failure::Unreachable(format!("{what} was not ready within {} s; see above", PATIENCE.as_secs())))
    })
}

async fn streams(config: &Config) -> Result<(), Failure> {
    let url = serve::journal_url(config)?.to_owned();
    let journal =
        Journal::connect(&JournalOptions { url, max_connections: 1, acquire_timeout: PATIENCE }).await?;
    let bus = serve::bus(config).await?;
    Ok(topology::apply(&bus, journal.head().await?, serve::streams(&config.nats)).await?)
}

fn tell(out: Output, store: &str, report: Report) -> Result<(), Failure> {
    let Report { from, to } = report;
    if out.is_json() {
        return out.value(&json!({ "store": store, "from": from, "to": to }));
    }
    out.line(match from {
        from if from == to => format!("{store}: version {to}, nothing to do"),
        0 => format!("{store}: made, version {to}"),
        from => format!("{store}: version {from} -> {to}"),
    })
}
