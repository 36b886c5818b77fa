//! Neo4j: plain files, statement by statement. Every statement must bear being applied twice
//! (`IF NOT EXISTS`, `MERGE`): schema and data cannot change in one transaction there.

use std::future::Future;
use std::time::Duration;

use neo4rs::{ConfigBuilder, Graph, query};
use tokio::time::timeout;

use crate::Report;
use crate::error::MigrationError;
use crate::file;

const STORE: &str = "Neo4j";
/// Longest wait for one statement.
const ANSWER: Duration = Duration::from_secs(60);
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Brings a Neo4j database to this program's version.
///
/// # Errors
/// [`MigrationError`] says what stopped it; it may be run again.
pub async fn neo4j(url: &str, user: &str, password: &str) -> Result<Report, MigrationError> {
    let files = file::numbered(STORE, file::NEO4J.iter().copied())?;
    let config = ConfigBuilder::default().uri(url).user(user).password(password);
    // The driver takes `max_lifetime` as the longest wait for a pooled connection; without it, it waits for ever.
    let config = config.max_connections(1).connection_timeout(CONNECT).max_lifetime(CONNECT).build();
    let graph = config.and_then(Graph::connect).map_err(|error| unavailable(error.to_string()))?;
    let applied = asked(applied(&graph)).await?;
    for file in file::pending(STORE, &files, &applied)? {
        for statement in file.statements("//") {
            asked(graph.run(query(&statement))).await.map_err(|error| error.during(file.version))?;
        }
        let done = query("MERGE (m:OxagenMigration {version: $version}) SET m.checksum = $checksum");
        asked(graph.run(done.param("version", file.version).param("checksum", file.checksum()))).await?;
    }
    let from = applied.last().map_or(0, |(version, _)| *version);
    Ok(Report { from, to: file::newest(&files) })
}

async fn applied(graph: &Graph) -> Result<Vec<(i64, String)>, neo4rs::Error> {
    let list =
        "MATCH (m:OxagenMigration) RETURN m.version AS version, m.checksum AS checksum ORDER BY version";
    let mut rows = graph.execute(query(list)).await?;
    let mut applied = Vec::new();
    while let Some(row) = rows.next().await? {
        let version = row.get("version").map_err(neo4rs::Error::DeserializationError)?;
        applied.push((version, row.get("checksum").map_err(neo4rs::Error::DeserializationError)?));
    }
    Ok(applied)
}

async fn asked<T>(answer: impl Future<Output = Result<T, neo4rs::Error>>) -> Result<T, MigrationError> {
    match timeout(ANSWER, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(unavailable(error.to_string())),
        Err(_) => Err(unavailable(format!("no answer within {} s", ANSWER.as_secs()))),
    }
}

fn unavailable(cause: String) -> MigrationError {
    MigrationError::Unavailable { store: STORE, cause }
}
