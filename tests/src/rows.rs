//! What the three stores hold.

use neo4rs::{ConfigBuilder, Graph, query};
use serde_json::{Map, Value};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::installation::Installation;

/// Readers of an installation's stores, past our code and past row-level security.
pub struct Rows {
    postgres: PgPool,
    clickhouse: (reqwest::Client, String),
    neo4j: Graph,
}

impl Rows {
    /// Of this installation.
    pub async fn of(installation: &Installation) -> Self {
        let servers = &installation.servers;
        let postgres =
            PgPoolOptions::new().max_connections(2).connect(&installation.admin_url).await.unwrap();
        let address = format!(
            "{}/?database={}&user={}&password={}&output_format_json_quote_64bit_integers=0",
            servers.clickhouse_url, installation.name, servers.clickhouse_user, servers.clickhouse_password
        );
        let config = ConfigBuilder::default()
            .uri(servers.neo4j_url.as_str())
            .user(servers.neo4j_user.as_str())
            .password(servers.neo4j_password.as_str())
            .build()
            .unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { postgres, clickhouse: (client, address), neo4j: Graph::connect(config).unwrap() }
    }

    /// Rows of a Postgres query as JSON objects.
    pub async fn postgres(&self, sql: &str) -> Vec<Value> {
        let sql = format!("select to_jsonb(found) from ({sql}) found");
        sqlx::query_scalar(&sql)
            .fetch_all(&self.postgres)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// A change past our code.
    pub async fn execute(&self, sql: &str) {
        sqlx::query(sql).execute(&self.postgres).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Rows of a ClickHouse query as JSON objects.
    pub async fn clickhouse(&self, sql: &str) -> Vec<Value> {
        let (client, address) = &self.clickhouse;
        let answer = client.post(address).body(format!("{sql} format JSONEachRow")).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 200, "{sql}: {text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a Cypher query returns, row by row; `$tenant` is the parameter.
    pub async fn neo4j(&self, cypher: &str, tenant: &str) -> Vec<Map<String, Value>> {
        let mut found = self.neo4j.execute(query(cypher).param("tenant", tenant)).await.unwrap();
        let mut rows = Vec::new();
        while let Some(row) = found.next().await.unwrap() {
            rows.push(row.to().unwrap());
        }
        rows
    }
}
