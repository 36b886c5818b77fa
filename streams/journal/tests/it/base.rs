//! A fresh database with the journal in it, and events to put there.

use std::env;
use std::time::Duration;

use chrono::{DateTime, Utc};
use oxagen_domain::{Actor, ConversationId, Metadata, Scope, TenantId, TurnId, WorkspaceId};
use oxagen_journal::{AppendError, Appended, Journal, JournalOptions, NewEvent, Sequencer};
use oxagen_migrations::PostgresTarget;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use uuid::Uuid;

pub(crate) struct Base {
    pub(crate) url: String,
    pub(crate) journal: Journal,
    name: String,
}

impl Base {
    /// Makes a database, migrates it and opens the journal.
    pub(crate) async fn new() -> Self {
        let name = format!("journal_{}", Uuid::now_v7().simple());
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
        Self { journal: open(&url, 8).await, url, name }
    }

    /// A connection beside the journal's pool.
    pub(crate) async fn connection(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    /// Drops the database; a test that fails leaves it to be looked at.
    pub(crate) async fn close(self) {
        self.journal.pool().close().await;
        admin().await.execute(format!("drop database {} with (force)", self.name).as_str()).await.unwrap();
    }

    /// Numbers everything there is.
    pub(crate) async fn number(&self) -> u64 {
        let mut sequencer = lead(&self.journal).await;
        while sequencer.number().await.unwrap().count > 0 {}
        sequencer.last()
    }
}

/// Leads as soon as the one before is gone.
pub(crate) async fn lead(journal: &Journal) -> Sequencer {
    loop {
        if let Some(sequencer) = Sequencer::lead(journal).await.unwrap() {
            return sequencer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn open(url: &str, max_connections: u32) -> Journal {
    let acquire_timeout = Duration::from_secs(30);
    Journal::connect(&JournalOptions { url: url.to_owned(), max_connections, acquire_timeout }).await.unwrap()
}

async fn admin() -> PgConnection {
    PgConnection::connect(&variable("DATABASE_ADMIN_URL")).await.unwrap()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} must name a Postgres to test on"))
}

pub(crate) fn scope(number: u128) -> Scope {
    Scope { tenant: TenantId(Uuid::from_u128(number)), workspace: WorkspaceId(Uuid::from_u128(number + 1)) }
}

pub(crate) fn metadata() -> Metadata {
    Metadata {
        scope: scope(1),
        conversation: Some(ConversationId(Uuid::from_u128(3))),
        turn: Some(TurnId(Uuid::from_u128(4))),
        actor: Actor::system("test"),
        causation: Uuid::from_u128(5),
        correlation: Uuid::from_u128(6),
        traceparent: None,
        occurred_at: at(0),
    }
}

/// A fixed time and some seconds.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

/// The event that takes a workspace to this version.
pub(crate) fn event(id: &str, version: u64) -> NewEvent {
    let (kind, payload) = match version {
        1 => ("workspace.created", json!({"type": "created", "name": "first"})),
        _ => ("workspace.tools_published", json!({"type": "tools_published", "tools": []})),
    };
    with(id, version, kind, payload)
}

pub(crate) fn with(id: &str, version: u64, kind: &'static str, payload: Value) -> NewEvent {
    NewEvent {
        aggregate_type: "workspace",
        aggregate_id: id.to_owned(),
        version,
        kind,
        form: 1,
        payload,
        metadata: metadata(),
    }
}

pub(crate) async fn put(journal: &Journal, id: &str, version: u64) -> Result<Vec<Appended>, AppendError> {
    journal.append(vec![event(id, version)], &[]).await
}
