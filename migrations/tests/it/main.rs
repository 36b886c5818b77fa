//! Migrations on real servers, whose addresses are in the environment. Each test makes a database of its own.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::env;

use oxagen_migrations::{
    MigrationError, PostgresTarget, Report, check, clickhouse, neo4j, postgres, undo, version,
};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use uuid::Uuid;

struct Base {
    url: String,
    name: String,
}

impl Base {
    async fn new() -> Self {
        let name = format!("migrations_{}", Uuid::now_v7().simple());
        let url = variable("DATABASE_URL");
        let (server, _) = url.rsplit_once('/').unwrap();
        let owner = url.split("://").nth(1).unwrap().split([':', '@']).next().unwrap();
        admin().await.execute(format!("create database {name} owner {owner}").as_str()).await.unwrap();
        Self { url: format!("{server}/{name}"), name }
    }

    async fn migrate(&self, adopt: bool) -> Result<Report, MigrationError> {
        let admin_url = Some(variable("DATABASE_ADMIN_URL"));
        postgres(&PostgresTarget { url: self.url.clone(), admin_url, adopt }).await
    }

    async fn execute(&self, sql: &str) {
        PgConnection::connect(&self.url).await.unwrap().execute(sql).await.unwrap();
    }

    async fn close(self) {
        admin().await.execute(format!("drop database {} with (force)", self.name).as_str()).await.unwrap();
    }
}

async fn admin() -> PgConnection {
    PgConnection::connect(&variable("DATABASE_ADMIN_URL")).await.unwrap()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} must be set to test on a server"))
}

#[tokio::test]
async fn postgres_goes_up_and_down_and_up_again() {
    let base = Base::new().await;
    let newest = version().unwrap();
    let behind = check(&base.url).await.unwrap_err();
    assert_eq!(
        behind.to_string(),
        format!("the database is at version 0, this program wants {newest}: run `oxagen migrate`")
    );
    assert_eq!(base.migrate(false).await.unwrap(), Report { from: 0, to: newest });
    check(&base.url).await.unwrap();
    assert_eq!(base.migrate(false).await.unwrap(), Report { from: newest, to: newest });
    base.execute("set role oxagen_reader").await;

    assert_eq!(undo(&base.url, 0).await.unwrap(), Report { from: newest, to: 0 });
    assert!(matches!(check(&base.url).await, Err(MigrationError::Behind { found: 0, .. })));
    base.migrate(false).await.unwrap();
    check(&base.url).await.unwrap();
    base.close().await;
}

#[tokio::test]
async fn a_newer_database_and_an_edited_migration_are_refused() {
    let base = Base::new().await;
    base.migrate(false).await.unwrap();
    base.execute("insert into _sqlx_migrations values (999, 'later', now(), true, '', 0)").await;
    for refused in [check(&base.url).await.unwrap_err(), base.migrate(false).await.unwrap_err()] {
        assert!(matches!(refused, MigrationError::Newer { found: 999, .. }), "{refused}");
    }
    base.execute("delete from _sqlx_migrations where version = 999").await;
    base.execute(r"update _sqlx_migrations set checksum = '\x00' where version = 1").await;
    for refused in [check(&base.url).await.unwrap_err(), base.migrate(false).await.unwrap_err()] {
        assert!(matches!(refused, MigrationError::Changed { version: 1, .. }), "{refused}");
    }
    base.close().await;
}

#[tokio::test]
async fn a_journal_of_another_cluster_is_noticed_and_adopted_when_asked() {
    let base = Base::new().await;
    base.migrate(false).await.unwrap();
    base.execute(
        "update journal.sequencer_state set system_identifier = 7, snapshot = '900000000:900000000:'",
    )
    .await;
    let refused = base.migrate(false).await.unwrap_err();
    assert!(matches!(refused, MigrationError::OtherCluster { was: 7, .. }), "{refused}");
    base.migrate(true).await.unwrap();
    base.migrate(false).await.unwrap();
    let mut connection = PgConnection::connect(&base.url).await.unwrap();
    let snapshot: String = sqlx::query_scalar("select snapshot::text from journal.sequencer_state")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(snapshot, "1:1:");
    base.close().await;
}

#[tokio::test]
async fn two_that_migrate_at_once_do_not_disturb_each_other() {
    let base = Base::new().await;
    let (one, other) = tokio::join!(base.migrate(false), base.migrate(false));
    assert_eq!((one.unwrap().to, other.unwrap().to), (version().unwrap(), version().unwrap()));
    base.close().await;
}

#[tokio::test]
async fn clickhouse_may_be_migrated_again_and_again() {
    let (url, user, password) =
        (variable("CLICKHOUSE_URL"), variable("CLICKHOUSE_USER"), variable("CLICKHOUSE_PASSWORD"));
    let database = format!("migrations_{}", Uuid::now_v7().simple());
    let first = clickhouse(&url, &user, &password, &database).await.unwrap();
    assert_eq!(first.from, 0);
    assert_eq!(
        clickhouse(&url, &user, &password, &database).await.unwrap(),
        Report { from: first.to, ..first }
    );
    let client = ::clickhouse::Client::default().with_url(&url).with_user(&user).with_password(&password);
    client.query(&format!("drop database {database}")).execute().await.unwrap();
    let nobody = clickhouse("http://127.0.0.1:1", &user, &password, &database).await.unwrap_err();
    assert!(matches!(nobody, MigrationError::Unavailable { store: "ClickHouse", .. }), "{nobody}");
}

#[tokio::test]
async fn neo4j_may_be_migrated_again_and_again() {
    let (url, user, password) = (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
    let first = neo4j(&url, &user, &password).await.unwrap();
    assert_eq!(neo4j(&url, &user, &password).await.unwrap(), Report { from: first.to, ..first });
    let nobody = neo4j("bolt://127.0.0.1:1", &user, &password).await.unwrap_err();
    assert!(matches!(nobody, MigrationError::Unavailable { store: "Neo4j", .. }), "{nobody}");
}
