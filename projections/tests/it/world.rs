//! Fresh databases and streams of one test's own, with a relay to be called by hand.

use std::env;
use std::time::Duration;

use oxagen_domain::Fact;
use oxagen_jetstream::publish::Publisher;
use oxagen_jetstream::topology::{self, STREAMS, Settings, stream_name};
use oxagen_jetstream::{Bus, NatsOptions, connect};
use oxagen_journal::{Journal, JournalOptions, Sequencer};
use oxagen_migrations::PostgresTarget;
use oxagen_projections::{
    Batch, ClickHouse, ClickHouseOptions, Neo4j, Neo4jOptions, Postgres, Projector, ProjectorOptions,
    Queries, Store,
};
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection, Executor};
use uuid::Uuid;

use crate::story::Story;

/// Generous: it only keeps a broken test from hanging.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) journal: Journal,
    pub(crate) bus: Bus,
}

impl World {
    /// Databases and streams of a new name.
    pub(crate) async fn new() -> Self {
        let name = format!("projections_{}", Uuid::now_v7().simple());
        let url = variable("DATABASE_URL");
        let (server, _) = url.rsplit_once('/').unwrap();
        let owner = url.split("://").nth(1).unwrap().split([':', '@']).next().unwrap();
        admin().await.execute(format!("create database {name} owner {owner}").as_str()).await.unwrap();
        let url = format!("{server}/{name}");
        let admin_url = Some(variable("DATABASE_ADMIN_URL"));
        let target = PostgresTarget { url: url.clone(), admin_url, adopt: false };
        oxagen_migrations::postgres(&target).await.unwrap();
        let options = JournalOptions { url: url.clone(), max_connections: 4, acquire_timeout: PATIENCE };
        let journal = Journal::connect(&options).await.unwrap();
        let prefix = format!("{name}_");
        let bus = connect(&NatsOptions { urls: variable("NATS_URL"), name: "test".to_owned(), prefix })
            .await
            .unwrap();
        topology::apply(&bus, 0, Settings::default()).await.unwrap();
        Self { url, name, journal, bus }
    }

    /// Commits a story to the journal and numbers it. Gives all facts so far.
    pub(crate) async fn commit(&self, story: &mut Story) -> Vec<Fact> {
        self.journal.append(story.take(), &[]).await.unwrap();
        let mut sequencer = self.lead().await;
        while sequencer.number().await.unwrap().count > 0 {}
        self.journal.read(0, 10_000).await.unwrap()
    }

    /// Publishes what the stream does not have yet, as a relay does.
    pub(crate) async fn publish(&self) {
        let publisher = Publisher::new(&self.bus);
        let last = publisher.last_sequence().await.unwrap();
        publisher.publish(&self.journal.read(last, 10_000).await.unwrap()).await.unwrap();
    }

    async fn lead(&self) -> Sequencer {
        soon(async {
            loop {
                if let Some(sequencer) = Sequencer::lead(&self.journal).await.unwrap() {
                    return sequencer;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
    }

    pub(crate) fn postgres(&self) -> Postgres {
        Postgres::new(&self.url).unwrap()
    }

    pub(crate) async fn clickhouse(&self) -> ClickHouse {
        let (url, user, password) =
            (variable("CLICKHOUSE_URL"), variable("CLICKHOUSE_USER"), variable("CLICKHOUSE_PASSWORD"));
        oxagen_migrations::clickhouse(&url, &user, &password, &self.name).await.unwrap();
        let (database, postgres_url) = (self.name.clone(), self.url.clone());
        ClickHouse::new(&ClickHouseOptions { url, user, password, database, postgres_url }).unwrap()
    }

    pub(crate) async fn neo4j(&self) -> Neo4j {
        let (url, user, password) =
            (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
        let (prefix, postgres_url) = (format!("{}_", self.name), self.url.clone());
        let store = Neo4j::new(&Neo4jOptions { url, user, password, postgres_url, prefix }).unwrap();
        store.prepare().await.unwrap();
        store
    }

    pub(crate) async fn queries(&self) -> Queries {
        Queries::connect(&self.url, 4).await.unwrap()
    }

    /// A connection that has not said who it is.
    pub(crate) async fn connection(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    /// Every row of a table, as text, past row level security.
    pub(crate) async fn rows(&self, table: &str) -> Vec<String> {
        let pool = superusers(&self.name).await;
        let sql = format!("select to_jsonb(t)::text from (select * from {table}) t order by 1");
        let rows = sqlx::query_scalar(&sql).fetch_all(&pool).await.unwrap();
        pool.close().await;
        rows
    }

    pub(crate) fn projector<S: Store>(&self, store: S) -> Projector<S> {
        let options = ProjectorOptions { linger: Duration::from_millis(20) };
        Projector::new(store, self.journal.clone(), self.bus.clone(), options)
    }

    /// Removes what this test made; a test that fails leaves it to be looked at.
    pub(crate) async fn end(self) {
        self.journal.pool().close().await;
        admin().await.execute(format!("drop database {} with (force)", self.name).as_str()).await.unwrap();
        let raw = async_nats::connect(variable("NATS_URL").split(',').next().unwrap()).await.unwrap();
        for stream in STREAMS {
            async_nats::jetstream::new(raw.clone())
                .delete_stream(stream_name(&self.bus, stream))
                .await
                .unwrap();
        }
        let drop = format!("drop database if exists {}", self.name);
        clickhouse_client().query(&drop).execute().await.unwrap();
    }
}

/// Takes facts in as one batch.
pub(crate) async fn take(store: &impl Store, facts: &[Fact]) {
    let from = store.cursor().await.unwrap();
    let to = facts.last().unwrap().seq.max(from);
    store.apply(Batch { from, facts, to }).await.unwrap();
}

pub(crate) fn clickhouse_client() -> clickhouse::Client {
    clickhouse::Client::default()
        .with_url(variable("CLICKHOUSE_URL"))
        .with_user(variable("CLICKHOUSE_USER"))
        .with_password(variable("CLICKHOUSE_PASSWORD"))
}

/// Waits for something that must happen.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened for a minute")
}

/// A connection to a database past row level security.
pub(crate) async fn superuser(database: &str) -> PgConnection {
    let admin = variable("DATABASE_ADMIN_URL");
    let (server, _) = admin.rsplit_once('/').unwrap();
    PgConnection::connect(&format!("{server}/{database}")).await.unwrap()
}

/// A pool of such connections.
pub(crate) async fn superusers(database: &str) -> PgPool {
    let admin = variable("DATABASE_ADMIN_URL");
    let (server, _) = admin.rsplit_once('/').unwrap();
    PgPool::connect(&format!("{server}/{database}")).await.unwrap()
}

async fn admin() -> PgConnection {
    PgConnection::connect(&variable("DATABASE_ADMIN_URL")).await.unwrap()
}

pub(crate) fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} must be set to test on a server: load .stack/test/env"))
}
