//! What roles stand on: the journal, the streams, the read models.

use std::sync::Arc;
use std::time::Duration;

use oxagen_commands::{Commands, Counted, Inbox};
use oxagen_domain::Scope;
use oxagen_jetstream::{Bus, NatsOptions, doorbell};
use oxagen_journal::{Doorbell, Journal, JournalOptions};
use oxagen_migrations as migrations;
use oxagen_projections::Queries;

use crate::config::{Config, ConfigError, need};
use crate::failure::Failure;
use crate::serve::waiting::{Server, Trouble};

/// The longest wait for a free connection to the journal.
const ACQUIRE: Duration = Duration::from_secs(5);

/// What roles of one process share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Parts {
    /// The settings.
    pub(crate) config: Arc<Config>,
    /// The write side, and through it the journal.
    pub(crate) commands: Commands,
    /// The streams.
    pub(crate) bus: Bus,
    /// The read models.
    pub(crate) queries: Queries,
}

/// Wakes the relays after each commit.
struct Bell(Bus);

impl Doorbell for Bell {
    fn ring(&self) {
        doorbell::ring(&self.0);
    }
}

/// The inbox as its view has it.
struct View(Queries);

impl Inbox for View {
    fn open_approvals(&self, scope: Scope) -> Counted<'_> {
        Box::pin(async move { self.0.open_approvals(scope).await.ok() })
    }
}

impl Parts {
    /// Connects to what every role needs; a server that is away is waited for.
    ///
    /// # Errors
    /// What no waiting mends: a setting that is missing or wrong, a database at another version.
    pub(crate) async fn connect(config: &Config) -> Result<Self, Failure> {
        check_versions(config).await?;
        let (journal, bus, queries) = tokio::try_join!(journal(config), bus(config), queries(config))?;
        let journal = journal.with_doorbell(Arc::new(Bell(bus.clone())));
        let commands = Commands::new(journal).with_inbox(Arc::new(View(queries.clone())));
        Ok(Self { config: Arc::new(config.clone()), commands, bus, queries })
    }

    /// The write side alone, at once or not at all; the relays find what it commits by themselves.
    ///
    /// # Errors
    /// Also when the server is away.
    pub(crate) async fn journal_only(config: &Config) -> Result<Commands, Failure> {
        let url = journal_url(config)?;
        migrations::check(url).await?;
        Ok(Commands::new(Journal::connect(&options(config, url)).await?))
    }
}

/// Where the journal is.
///
/// # Errors
/// [`ConfigError::Missing`].
pub(crate) fn journal_url(config: &Config) -> Result<&str, ConfigError> {
    match &config.postgres.journal_url {
        Some(url) => Ok(url),
        None => need(config.postgres.url.as_ref(), "postgres.url"),
    }
}

async fn check_versions(config: &Config) -> Result<(), Failure> {
    let (journal, views) = (journal_url(config)?, need(config.postgres.url.as_ref(), "postgres.url")?);
    for (what, url, setting) in [
        ("the journal (Postgres)", journal, "OXAGEN_JOURNAL_URL or DATABASE_URL"),
        ("the read models (Postgres)", views, "DATABASE_URL"),
    ] {
        let server = Server::new(what, url, setting);
        server.until_it_answers(|| async { Ok(migrations::check(url).await?) }).await?;
    }
    Ok(())
}

async fn journal(config: &Config) -> Result<Journal, Failure> {
    let url = journal_url(config)?;
    let server = Server::new("the journal (Postgres)", url, "OXAGEN_JOURNAL_URL or DATABASE_URL");
    server.until_it_answers(|| async { Ok(Journal::connect(&options(config, url)).await?) }).await
}

fn options(config: &Config, url: &str) -> JournalOptions {
    let max_connections = config.postgres.journal_connections;
    JournalOptions { url: url.to_owned(), max_connections, acquire_timeout: ACQUIRE }
}

async fn queries(config: &Config) -> Result<Queries, Failure> {
    let url = need(config.postgres.url.as_ref(), "postgres.url")?;
    let server = Server::new("the read models (Postgres)", url, "DATABASE_URL");
    let connections = config.postgres.query_connections;
    server.until_it_answers(|| async { Ok(Queries::connect(url, connections).await?) }).await
}

/// The connection to NATS; waited for.
///
/// # Errors
/// What no waiting mends.
pub(crate) async fn bus(config: &Config) -> Result<Bus, Failure> {
    let urls = need(config.nats.url.as_ref(), "nats.url")?;
    let server = Server::new("NATS", urls, "NATS_URL");
    let name = format!("oxagen-{}", std::process::id());
    let options = NatsOptions { urls: urls.to_owned(), name, prefix: config.nats.prefix.clone() };
    server
        .until_it_answers(|| async {
            let bus = oxagen_jetstream::connect(&options).await?;
            bus.ping()
                .await
                .map_err(|error| Trouble::Passing(format!("{error} (is JetStream enabled there?)")))?;
            Ok(bus)
        })
        .await
}
