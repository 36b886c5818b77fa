//! A fresh database with a workspace in it, and what a person does there.

use std::env;
use std::time::Duration;

use oxagen_commands::{Caller, Commands, NewWorkspace, RequestCall, StartTurn};
use oxagen_domain::policy::PolicyDocument;
use oxagen_journal::{Journal, JournalOptions};
use oxagen_migrations::PostgresTarget;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use uuid::Uuid;

pub(crate) struct Base {
    pub(crate) commands: Commands,
    /// A second instance with a pool of its own.
    pub(crate) second: Commands,
    pub(crate) owner: Caller,
    /// Where its database is.
    pub(crate) url: String,
}

impl Base {
    pub(crate) async fn new() -> Self {
        let url = database().await;
        let (commands, second) = (open(&url).await, open(&url).await);
        let owner = workspace(&commands).await;
        Self { commands, second, owner, url }
    }
}

/// The owner of a new workspace that enables code in an enterprise tier, with network.
pub(crate) async fn workspace(commands: &Commands) -> Caller {
    let policy = PolicyDocument {
        tier: "enterprise".to_owned(),
        enabled: ["agent.code.execute".to_owned()].into(),
        network: true,
        ..PolicyDocument::default()
    };
    let request = NewWorkspace { name: "test".to_owned(), tenant_id: None, policy };
    let made = commands.create_workspace(request).await.unwrap();
    commands.authenticate(&made.key.secret).await.unwrap().unwrap()
}

pub(crate) fn message(text: &str) -> StartTurn {
    StartTurn { text: text.to_owned(), ..StartTurn::default() }
}

pub(crate) fn python(network: &str) -> RequestCall {
    let input: Value = json!({"language": "python", "code": "print(1)", "network": network});
    RequestCall { capability: "agent.code.execute".to_owned(), input, idempotency_key: None }
}

async fn open(url: &str) -> Commands {
    let acquire_timeout = Duration::from_secs(30);
    let options = JournalOptions { url: url.to_owned(), max_connections: 8, acquire_timeout };
    Commands::new(Journal::connect(&options).await.unwrap())
}

async fn database() -> String {
    let variable =
        |name: &str| env::var(name).unwrap_or_else(|_| panic!("{name} must name a Postgres to test on"));
    let name = format!("commands_{}", Uuid::now_v7().simple());
    let (url, admin_url) = (variable("DATABASE_URL"), variable("DATABASE_ADMIN_URL"));
    let (server, _) = url.rsplit_once('/').unwrap();
    let owner = url.split("://").nth(1).unwrap().split([':', '@']).next().unwrap();
    let mut admin = PgConnection::connect(&admin_url).await.unwrap();
    admin.execute(format!("create database {name} owner {owner}").as_str()).await.unwrap();
    let url = format!("{server}/{name}");
    let target = PostgresTarget { url: url.clone(), admin_url: Some(admin_url), adopt: false };
    oxagen_migrations::postgres(&target).await.unwrap();
    url
}
