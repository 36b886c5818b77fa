//! The installation that is measured: databases of its own, and every role in processes of their own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::ensure;
use oxagen_tests::{Installation, Process, Rows, Workspace};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::clock::Clock;
use crate::counter::Counter;

/// Which roles share a process.
type Layout = &'static [&'static [&'static str]];

/// As a small installation may have it.
const LAYOUT: Layout = &[
    &["relay", "reactor"],
    &["projector-postgres", "projector-clickhouse", "projector-neo4j"],
    &["runner"],
    &["gateway"],
];
/// Each role in a process of its own.
const APART: Layout = &[
    &["relay"],
    &["reactor"],
    &["projector-postgres"],
    &["projector-clickhouse"],
    &["projector-neo4j"],
    &["runner"],
    &["gateway"],
];
/// The longest wait for the stores.
const SETTLE: Duration = Duration::from_secs(120);

/// An installation without processes.
pub(crate) struct Site {
    /// Databases, streams, model.
    pub(crate) installation: Installation,
    /// Postgres, past row-level security.
    pub(crate) postgres: PgPool,
    /// All three stores.
    pub(crate) rows: Rows,
}

/// Every role, running. Killed when dropped.
pub(crate) struct Running {
    /// The processes by their first role.
    pub(crate) processes: BTreeMap<&'static str, Process>,
    /// Counters of statements by the same name, if there are any.
    pub(crate) counters: BTreeMap<&'static str, Counter>,
    /// What the model's answers take.
    pub(crate) clock: Clock,
    /// The gateway.
    pub(crate) url: String,
}

impl Site {
    /// A new one.
    pub(crate) async fn new() -> anyhow::Result<Self> {
        let mut installation = Installation::new().await;
        for (name, value) in [
            ("RUST_LOG", "warn"),
            ("OXAGEN_KEY_RATE", "1000000"),
            ("OXAGEN_TENANT_RATE", "1000000"),
            ("OXAGEN_KEY_REQUESTS", "10000"),
            ("OXAGEN_KEY_STREAMS", "10000"),
            ("OXAGEN_RUNNER_TURNS", "400"),
        ] {
            installation.settings.insert(name.to_owned(), value.to_owned());
        }
        let postgres = PgPoolOptions::new().max_connections(4).connect(&installation.admin_url).await?;
        let rows = Rows::of(&installation).await;
        Ok(Self { installation, postgres, rows })
    }

    /// Starts every role.
    pub(crate) async fn start(&self) -> Running {
        self.run(LAYOUT, false).await
    }

    /// Starts every role in a process of its own.
    pub(crate) async fn start_apart(&self) -> Running {
        self.run(APART, false).await
    }

    /// Starts every role with a counter of its statements in front of Postgres.
    pub(crate) async fn start_counted(&self) -> Running {
        self.run(LAYOUT, true).await
    }

    async fn run(&self, layout: Layout, counted: bool) -> Running {
        let clock = Clock::before(self.installation.model.address().to_string()).await;
        let model = format!("http://{}/v1", clock.address);
        let (mut processes, mut counters) = (BTreeMap::new(), BTreeMap::new());
        let mut url = String::new();
        for roles in layout {
            let mut own = vec![("OXAGEN_MODEL_URL", model.clone())];
            if counted {
                let counter = Counter::before(&self.installation.settings["DATABASE_URL"]).await;
                own.push(("DATABASE_URL", counter.url.clone()));
                counters.insert(roles[0], counter);
            }
            let own: Vec<_> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let process = self.installation.start_with(roles, &own).await;
            url.clone_from(&process.url);
            processes.insert(roles[0], process);
        }
        Running { processes, counters, clock, url }
    }

    /// Workspaces, each of a tenant of its own.
    pub(crate) async fn workspaces(&self, running: &Running, count: usize) -> Vec<Workspace> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.installation.workspace(&running.url).await);
        }
        all
    }

    /// The number of the last fact.
    pub(crate) async fn head(&self) -> anyhow::Result<u64> {
        let head: i64 = sqlx::query_scalar("select coalesce(max(seq), 0) from journal.sequence")
            .fetch_one(&self.postgres)
            .await?;
        Ok(head.unsigned_abs())
    }

    /// How far a projection is.
    pub(crate) async fn cursor(&self, projection: &str) -> anyhow::Result<u64> {
        let cursor: Option<i64> =
            sqlx::query_scalar("select seq from projection.cursors where projection = $1")
                .bind(projection)
                .fetch_optional(&self.postgres)
                .await?;
        Ok(cursor.unwrap_or(0).unsigned_abs())
    }

    /// Waits until every event has its number, every call has ended, and the three stores have taken all of it in.
    pub(crate) async fn settle(&self) -> anyhow::Result<Duration> {
        const SETTLED: &str = "
            select (select min(seq) from projection.cursors where projection in ('postgres', 'clickhouse', 'neo4j'))
                     >= (select max(seq) from journal.sequence)
               and (select count(*) from projection.cursors where projection in ('postgres', 'clickhouse', 'neo4j')) = 3
               and (select count(*) from journal.events) = (select max(seq) from journal.sequence)
               and not exists (select from execution.tool_calls where status in ('requested', 'cleared', 'started'))";
        let begun = Instant::now();
        loop {
            let asked = Instant::now();
            let settled: Option<bool> = sqlx::query_scalar(SETTLED).fetch_one(&self.postgres).await?;
            if settled == Some(true) {
                return Ok(begun.elapsed());
            }
            ensure!(begun.elapsed() < SETTLE, "the stores have not settled within {SETTLE:?}");
            // With a long history the question itself is work for the server.
            tokio::time::sleep(Duration::from_millis(25).max(asked.elapsed() * 4)).await;
        }
    }
}
