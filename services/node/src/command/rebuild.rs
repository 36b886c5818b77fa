//! `oxagen rebuild`: builds a projection again from the journal, while it is read and written.

use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oxagen_journal::Journal;
use oxagen_projections::rebuild::{Change, Progress, Rebuild as _, RebuildError, Rebuilt};
use tokio::time::Instant;

use super::Desk;
use crate::config::{Config, Log};
use crate::failure::Failure;
use crate::output::{Output, note};
use crate::serve::{Parts, log, stores};

/// Time between two words about how far it is.
const REPEAT: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  oxagen rebuild postgres
  oxagen rebuild neo4j && oxagen verify

Readers and the projector go on. Nothing acts again: facts are only folded. It may be stopped at any time; the next
one clears up and begins anew. Only one rebuild of a projection runs at a time.";

/// `rebuild`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rebuild {
    /// Which projection
    #[arg(value_enum)]
    projection: Projection,
}

/// The projections.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Projection {
    /// The read models
    Postgres,
    /// The analytic rows
    Clickhouse,
    /// The graph
    Neo4j,
}

/// Builds it again.
pub(super) async fn rebuild(desk: &Desk, rebuild: Rebuild) -> Result<(), Failure> {
    let config = &desk.configured.config;
    log::start(&Log { format: "human".to_owned(), filter: "warn".to_owned() })?;
    let commands = Parts::journal_only(config).await?;
    tokio::select! {
        built = build(config, rebuild.projection, commands.journal()) => print(desk.out, &built?),
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Err(Failure::Interrupted)
        }
    }
}

async fn build(config: &Config, projection: Projection, journal: &Journal) -> Result<Rebuilt, Failure> {
    let next = Mutex::new(Instant::now() + REPEAT);
    let tell = |Progress { at, of }: Progress| {
        let Ok(mut next) = next.lock() else { return };
        if Instant::now() >= *next {
            note(format!("{at} of {of} facts"));
            *next = Instant::now() + REPEAT;
        }
    };
    Ok(match projection {
        Projection::Postgres => stores::postgres(config)?.rebuild(journal, &tell).await,
        Projection::Clickhouse => stores::clickhouse(config)?.rebuild(journal, &tell).await,
        Projection::Neo4j => stores::neo4j(config)?.rebuild(journal, &tell).await,
    }?)
}

fn print(out: Output, rebuilt: &Rebuilt) -> Result<(), Failure> {
    if out.is_json() {
        return out.value(rebuilt);
    }
    for Change { table, removed, written } in &rebuilt.tables {
        out.line(format!("{table:<26}  {removed:>9} removed  {written:>9} written"))?;
    }
    for seq in &rebuilt.refused {
        note(format!("fact {seq} cannot be taken in and was left out"));
    }
    out.line(format!("{}: as built from facts 1 to {}", rebuilt.store, rebuilt.cursor))
}

impl From<RebuildError> for Failure {
    fn from(error: RebuildError) -> Self {
        match error {
            RebuildError::Store(error) => error.into(),
            RebuildError::Journal(error) => error.into(),
            RebuildError::Busy { .. } | RebuildError::OtherJournal { .. } => Self::Failed(error.to_string()),
        }
    }
}
