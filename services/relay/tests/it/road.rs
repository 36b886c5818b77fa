//! A database and streams of its own for each test.

use std::env;
use std::time::Duration;

use chrono::Utc;
use oxagen_domain::{Actor, Metadata, Scope};
use oxagen_jetstream::{Bus, NatsOptions, doorbell};
use oxagen_journal::{AppendError, Doorbell, Journal, JournalOptions, NewEvent};
use oxagen_migrations::PostgresTarget;
use serde_json::json;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use uuid::Uuid;

pub(crate) struct Road {
    pub(crate) journal: Journal,
    pub(crate) bus: Bus,
    name: String,
}

pub(crate) struct Bell(pub(crate) Bus);

impl Doorbell for Bell {
    fn ring(&self) {
        doorbell::ring(&self.0);
    }
}

impl Road {
    pub(crate) async fn new() -> Self {
        let name = format!("relay_{}", Uuid::now_v7().simple());
        let url = variable("DATABASE_URL");
        let (server, _) = url.rsplit_once('/').unwrap();
        let owner = url.split("://").nth(1).unwrap().split([':', '@']).next().unwrap();
        admin().await.execute(format!("create database {name} owner {owner}").as_str()).await.unwrap();
        let url = format!("{server}/{name}");
        let target = PostgresTarget {
            url: url.clone(),
            admin_url: Some(variable("DATABASE_ADMIN_URL")),
            adopt: false,
        };
        oxagen_migrations::postgres(&target).await.unwrap();
        let options = JournalOptions { url, max_connections: 8, acquire_timeout: Duration::from_secs(30) };
        let journal = Journal::connect(&options).await.unwrap();
        let options = NatsOptions { urls: variable("NATS_URL"), name: name.clone(), prefix: name.clone() };
        let bus = oxagen_jetstream::connect(&options).await.unwrap();
        Self { journal, bus, name }
    }

    /// Appends one workspace's events with these versions, which are also their numbers.
    pub(crate) async fn append(&self, first: u64, last: u64) {
        append(&self.journal, first, last).await;
    }

    /// Makes the history end earlier, as a restored database does.
    pub(crate) async fn forget_after(&self, seq: i64) {
        const FORGET: &str = "
            with gone as (delete from journal.sequence where seq > $1 returning position)
            delete from journal.events where position in (select position from gone)";
        sqlx::query(FORGET).bind(seq).execute(self.journal.pool()).await.unwrap();
    }

    /// Ends every session on the journal, as a restart of the server does.
    pub(crate) async fn kill_sessions(&self) {
        let kill = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
        sqlx::query(kill).bind(&self.name).execute(&mut admin().await).await.unwrap();
    }

    pub(crate) async fn nats(&self) -> async_nats::Client {
        async_nats::connect(variable("NATS_URL")).await.unwrap()
    }

    pub(crate) fn stream(&self) -> String {
        format!("{}FACTS", self.name)
    }

    pub(crate) async fn close(self) {
        let context = async_nats::jetstream::new(self.nats().await);
        for stream in ["FACTS", "LIVE"] {
            context.delete_stream(format!("{}{stream}", self.name)).await.unwrap();
        }
        self.journal.pool().close().await;
        admin().await.execute(format!("drop database {} with (force)", self.name).as_str()).await.unwrap();
    }
}

pub(crate) async fn append(journal: &Journal, first: u64, last: u64) {
    let event = |version| {
        let (kind, payload) = match version {
            1 => ("workspace.created", json!({"type": "created", "name": "first"})),
            _ => ("workspace.tools_published", json!({"type": "tools_published", "tools": []})),
        };
        let metadata = Metadata {
            scope: Scope::default(),
            conversation: None,
            turn: None,
            actor: Actor::system("test"),
            causation: Uuid::nil(),
            correlation: Uuid::nil(),
            traceparent: None,
            occurred_at: Utc::now(),
        };
        let aggregate_id = "w".to_owned();
        NewEvent { aggregate_type: "workspace", aggregate_id, version, kind, form: 1, payload, metadata }
    };
    let events: Vec<_> = (first..=last).map(event).collect();
    loop {
        match journal.append(events.clone(), &[]).await {
            // A session of the pool was killed; the next one works.
            Err(AppendError::Unavailable { .. }) => {}
            appended => return drop(appended.unwrap()),
        }
    }
}

async fn admin() -> PgConnection {
    PgConnection::connect(&variable("DATABASE_ADMIN_URL")).await.unwrap()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} must name a server to test on"))
}
