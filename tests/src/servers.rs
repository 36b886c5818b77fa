//! The servers that the environment names.

use std::env;

/// Addresses of the `test` stack's servers.
#[derive(Clone, Debug)]
pub struct Servers {
    /// Postgres, as a role that is no superuser.
    pub database_url: String,
    /// Postgres, as a superuser.
    pub database_admin_url: String,
    /// NATS.
    pub nats_url: String,
    /// ClickHouse's HTTP interface.
    pub clickhouse_url: String,
    /// Its user.
    pub clickhouse_user: String,
    /// That user's password.
    pub clickhouse_password: String,
    /// Neo4j's Bolt interface.
    pub neo4j_url: String,
    /// Its user.
    pub neo4j_user: String,
    /// That user's password.
    pub neo4j_password: String,
    /// The Docker engine.
    pub docker_host: String,
    /// The image that code runs in.
    pub sandbox_image: String,
}

impl Servers {
    /// Reads the environment; fails naming what is not set.
    pub fn from_env() -> Self {
        let mut missing = Vec::new();
        let mut read = |name: &str| {
            env::var(name).unwrap_or_else(|_| {
                missing.push(name.to_owned());
                String::new()
            })
        };
        let servers = Self {
            database_url: read("DATABASE_URL"),
            database_admin_url: read("DATABASE_ADMIN_URL"),
            nats_url: read("NATS_URL"),
            clickhouse_url: read("CLICKHOUSE_URL"),
            clickhouse_user: read("CLICKHOUSE_USER"),
            clickhouse_password: read("CLICKHOUSE_PASSWORD"),
            neo4j_url: read("NEO4J_URL"),
            neo4j_user: read("NEO4J_USER"),
            neo4j_password: read("NEO4J_PASSWORD"),
            docker_host: read("DOCKER_HOST"),
            sandbox_image: read("OXAGEN_SANDBOX_IMAGE"),
        };
        assert!(
            missing.is_empty(),
            "these tests need real servers, and {} is not set. `make it` does everything; by hand: \
             dev/stack up --name test; set -a; . .stack/test/env; set +a",
            missing.join(", ")
        );
        servers
    }

    /// The role that owns the databases, as its address names it.
    pub(crate) fn owner(&self) -> &str {
        let login = self.database_url.split("://").nth(1).unwrap();
        login.split([':', '@']).next().unwrap()
    }
}

/// The same address with another database.
pub(crate) fn with_database(url: &str, database: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}")
}
