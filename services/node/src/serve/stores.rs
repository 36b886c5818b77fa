//! The stores that facts are projected into, as configured.

use oxagen_journal::Journal;
use oxagen_projections::verify::Verifier;
use oxagen_projections::{ClickHouse, ClickHouseOptions, Neo4j, Neo4jOptions, Postgres};

use crate::config::{Config, need};
use crate::failure::Failure;

/// The read models in Postgres.
///
/// # Errors
/// A setting that is missing or wrong.
pub(crate) fn postgres(config: &Config) -> Result<Postgres, Failure> {
    Ok(Postgres::new(need(config.postgres.url.as_ref(), "postgres.url")?)?)
}

/// The analytic rows in ClickHouse.
///
/// # Errors
/// A setting that is missing or wrong.
pub(crate) fn clickhouse(config: &Config) -> Result<ClickHouse, Failure> {
    Ok(ClickHouse::new(&ClickHouseOptions {
        url: need(config.clickhouse.url.as_ref(), "clickhouse.url")?.to_owned(),
        user: config.clickhouse.user.clone(),
        password: config.clickhouse.password.clone(),
        database: config.clickhouse.database.clone(),
        postgres_url: need(config.postgres.url.as_ref(), "postgres.url")?.to_owned(),
    })?)
}

/// The graph in Neo4j.
///
/// # Errors
/// A setting that is missing or wrong.
pub(crate) fn neo4j(config: &Config) -> Result<Neo4j, Failure> {
    Ok(Neo4j::new(&Neo4jOptions {
        url: need(config.neo4j.url.as_ref(), "neo4j.url")?.to_owned(),
        user: config.neo4j.user.clone(),
        password: config.neo4j.password.clone(),
        prefix: config.nats.prefix.clone(),
        postgres_url: need(config.postgres.url.as_ref(), "postgres.url")?.to_owned(),
    })?)
}

/// What compares the stores that are configured with the journal.
///
/// # Errors
/// A setting that is missing or wrong.
pub(crate) fn verifier(config: &Config, journal: &Journal) -> Result<Verifier, Failure> {
    let mut verifier = Verifier::new(journal.clone()).with_postgres(postgres(config)?);
    if config.clickhouse.url.is_some() {
        verifier = verifier.with_clickhouse(clickhouse(config)?);
    }
    if config.neo4j.url.is_some() {
        verifier = verifier.with_neo4j(neo4j(config)?);
    }
    Ok(verifier)
}
