//! Gives a fact to the reader that gave up on it.

use oxagen_commands::{Commands, Context};
use oxagen_domain::Fact;
use oxagen_domain::reaction::react;
use oxagen_journal::{DeadLetter, Journal};
use oxagen_projections::{Store, StoreError, apply_again};

use crate::config::Config;
use crate::failure::Failure;
use crate::serve::stores;

/// Attempts beside an active projector, which moves the cursor meanwhile.
const ATTEMPTS: u32 = 20;

/// The fact with this number.
pub(super) async fn fact(journal: &Journal, seq: u64) -> Result<Fact, Failure> {
    let facts = journal.read(seq.saturating_sub(1), 1).await?;
    let found = facts.into_iter().find(|fact| fact.seq == seq);
    found.ok_or_else(|| Failure::NotFound(format!("there is no fact {seq} in the journal")))
}

/// Gives it once more, here and now.
pub(super) async fn retry(config: &Config, commands: &Commands, letter: &DeadLetter) -> Result<(), Failure> {
    let fact = fact(commands.journal(), letter.seq).await?;
    match letter.reader.as_str() {
        "projector-postgres" => again(&stores::postgres(config)?, &fact).await,
        "projector-clickhouse" => again(&stores::clickhouse(config)?, &fact).await,
        "projector-neo4j" => again(&stores::neo4j(config)?, &fact).await,
        "reactor" => react_again(commands, &fact).await,
        other => Err(Failure::Failed(format!("this build does not know how `{other}` takes a fact in"))),
    }
}

async fn again<S: Store>(store: &S, fact: &Fact) -> Result<(), Failure> {
    for _ in 1..ATTEMPTS {
        match apply_again(store, fact).await {
            Err(StoreError::CursorMoved { .. }) => {}
            ended => return ended.map_err(Into::into),
        }
    }
    apply_again(store, fact).await.map_err(Into::into)
}

async fn react_again(commands: &Commands, fact: &Fact) -> Result<(), Failure> {
    let event = fact.event().map_err(|error| Failure::Failed(error.to_string()))?;
    let context = Context::after(fact, "reactor");
    for reaction in event.iter().flat_map(|event| react(fact, event)) {
        commands.react(&context, &reaction).await?;
    }
    Ok(())
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Unreachable(error.to_string()),
            StoreError::Refused { .. } | StoreError::CursorMoved { .. } => Self::Failed(error.to_string()),
        }
    }
}
