//! The graph in Neo4j: which execution invoked which tool, and who approved. Changes and cursor are one transaction,
//! one `UNWIND` per kind of edge; the cursor is noted in Postgres as well, for people and for those who wait for it.

pub(crate) mod approved_by;
pub(crate) mod invoked;

use std::time::Duration;

use fail::fail_point;
use neo4rs::{
    BoltType, Config, ConfigBuilder, Error, Graph, Neo4jClientErrorKind, Neo4jErrorKind, Query, Txn, query,
};
use oxagen_domain::Fact;
use sqlx::postgres::PgPool;
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::cursor;
use crate::kinds::has_edges;
use crate::postgres::lazy_pool;
use crate::store::{Batch, Store, StoreError};

use approved_by::Approvals;
use invoked::Invocations;

/// The projection's name.
pub(crate) const NAME: &str = "neo4j";
/// Longest wait for a connection, new or pooled.
const ACQUIRE: Duration = Duration::from_secs(5);
/// Longest time for one transaction.
const ANSWER: Duration = Duration::from_secs(30);
/// Attempts of a transaction that met a deadlock or a full server.
const ATTEMPTS: u32 = 5;
/// Uniqueness is what makes a repeated MERGE find what is there. Also applied by `oxagen migrate`.
const CONSTRAINTS: &str = include_str!("../../migrations/neo4j/0001_executions.cypher");
/// Writing to the node first takes its lock: what is compared then cannot change any more.
const ADVANCE: &str = "
MERGE (c:ProjectionCursor {projection: $projection}) ON CREATE SET c.seq = 0
SET c.updatedAt = datetime()
WITH c, c.seq AS found
SET c.seq = CASE WHEN found = $from THEN $to ELSE found END
RETURN found";

/// Where Neo4j is, and the Postgres in which the cursor is noted.
#[derive(Clone)]
pub struct Neo4jOptions {
    /// `bolt://host:port`.
    pub url: String,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// The read models' Postgres.
    pub postgres_url: String,
    /// Goes before the cursor's name, so that several installations can share a server; usually empty.
    pub prefix: String,
}

/// The graph in Neo4j.
#[derive(Clone)]
pub struct Neo4j {
    pub(crate) graph: Graph,
    config: Config,
    pub(crate) cursors: PgPool,
    /// Names the cursor's node.
    pub(crate) projection: String,
}

impl Neo4j {
    /// The graph in this database. Nothing is connected yet.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for an address that is none.
    pub fn new(options: &Neo4jOptions) -> Result<Self, StoreError> {
        let config = ConfigBuilder::default()
            .uri(&options.url)
            .user(&options.user)
            .password(&options.password)
            .max_connections(4)
            .connection_timeout(ACQUIRE)
            // The driver takes this for the longest wait for a pooled connection; without it, it waits for ever.
            .max_lifetime(ACQUIRE);
        let refused = |error: Error| StoreError::Refused {
            store: NAME,
            cause: format!("{error}; expected bolt://host:port"),
        };
        let config = config.build().map_err(refused)?;
        let graph = Graph::connect(config.clone()).map_err(refused)?;
        let projection = format!("{}{NAME}", options.prefix);
        Ok(Self { graph, config, cursors: lazy_pool(NAME, &options.postgres_url)?, projection })
    }

    /// One attempt of a batch. Rolled back explicitly unless it was committed.
    async fn transact(&self, batch: Batch<'_>, changes: &[Query]) -> Result<Outcome, Error> {
        let mut transaction = self.graph.start_txn().await?;
        let outcome = self.advance_and_write(&mut transaction, batch, changes).await;
        match outcome {
            Ok(Outcome::Taken) => {
                fail_point!("projector.commit", |_| std::process::abort());
                transaction.commit().await.map(|()| Outcome::Taken)
            }
            Ok(Outcome::StoodAt(found)) => {
                roll_back(transaction).await;
                Ok(Outcome::StoodAt(found))
            }
            Err(error) => {
                roll_back(transaction).await;
                Err(error)
            }
        }
    }

    /// Connections of one's own: whoever is dropped in the middle of a transaction takes them along, and with them the
    /// transaction and its locks. A shared one would keep both until somebody uses it again.
    pub(crate) fn apart(&self) -> Result<Graph, StoreError> {
        Graph::connect(self.config.clone()).map_err(|error| explain(&error))
    }

    /// Changes the graph and leaves the cursor alone.
    pub(crate) async fn write(&self, changes: Vec<Query>) -> Result<(), StoreError> {
        again_after_deadlocks(|| async {
            let mut transaction = self.graph.start_txn().await?;
            for change in &changes {
                if let Err(error) = transaction.run(change.clone()).await {
                    roll_back(transaction).await;
                    return Err(error);
                }
            }
            transaction.commit().await
        })
        .await
    }

    async fn advance_and_write(
        &self,
        transaction: &mut Txn,
        batch: Batch<'_>,
        changes: &[Query],
    ) -> Result<Outcome, Error> {
        let advance = query(ADVANCE)
            .param("projection", self.projection.as_str())
            .param("from", batch.from.cast_signed())
            .param("to", batch.to.cast_signed());
        let mut rows = transaction.execute(advance).await?;
        let row = rows.next(transaction.handle()).await?.ok_or(Error::NoMoreRows)?;
        let found = row.get::<i64>("found")?.unsigned_abs();
        // What is left unread on the connection would be in the way of the next statement.
        while rows.next(transaction.handle()).await?.is_some() {}
        if found != batch.from {
            return Ok(Outcome::StoodAt(found));
        }
        for change in changes {
            transaction.run(change.clone()).await?;
        }
        Ok(Outcome::Taken)
    }
}

/// What facts change in the graph.
pub(crate) struct Changes {
    invocations: Invocations,
    approvals: Approvals,
}

impl Changes {
    /// Folds facts.
    pub(crate) fn of(facts: &[Fact]) -> Result<Self, StoreError> {
        let (mut invocations, mut approvals) = (Invocations::default(), Approvals::default());
        for fact in facts.iter().filter(|fact| has_edges(&fact.kind)) {
            let refused = |cause| StoreError::Refused { store: NAME, cause };
            let Some(event) = fact.event().map_err(|error| refused(error.to_string()))? else { continue };
            invocations.take(fact, &event).map_err(refused)?;
            approvals.take(fact, &event);
        }
        Ok(Self { invocations, approvals })
    }

    /// The statements that merge them into the graph.
    fn merged(self) -> Vec<Query> {
        [self.invocations.query(), self.approvals.query()].into_iter().flatten().collect()
    }

    /// The statements that write them as if nothing were there, and stamp them with `$generation`. An edge that a
    /// fact up to `$head` has changed later is stamped alone.
    pub(crate) fn rewritten(self) -> Vec<Query> {
        self.invocations.rewrite().into_iter().chain(self.approvals.rewrite()).collect()
    }
}

/// What became of a batch.
enum Outcome {
    /// It is in.
    Taken,
    /// The cursor stood elsewhere, and nothing was changed.
    StoodAt(u64),
}

impl Store for Neo4j {
    const BATCH: usize = 5_000;

    fn name(&self) -> &'static str {
        NAME
    }

    async fn prepare(&self) -> Result<(), StoreError> {
        let lines: String = CONSTRAINTS.lines().filter(|line| !line.starts_with("//")).collect();
        for constraint in lines.split(';').filter(|statement| !statement.trim().is_empty()) {
            bounded(self.graph.run(query(constraint))).await?;
        }
        Ok(())
    }

    async fn cursor(&self) -> Result<u64, StoreError> {
        let read = query("MATCH (c:ProjectionCursor {projection: $projection}) RETURN c.seq AS seq");
        let read = async {
            let mut rows = self.graph.execute(read.param("projection", self.projection.as_str())).await?;
            Ok(match rows.next().await? {
                Some(row) => row.get::<i64>("seq")?.unsigned_abs(),
                None => 0,
            })
        };
        bounded(read).await
    }

    async fn apply(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let changes = Changes::of(batch.facts)?.merged();
        let outcome = again_after_deadlocks(|| self.transact(batch, &changes)).await?;
        match outcome {
            Outcome::Taken => {}
            Outcome::StoodAt(found) if found == batch.to => {}
            Outcome::StoodAt(found) => {
                return Err(StoreError::CursorMoved { store: NAME, expected: batch.from, found });
            }
        }
        fail_point!("projector.before_cursor", |_| std::process::abort());
        if let Err(error) = cursor::note(&self.cursors, NAME, batch.to).await {
            warn!(%error, "the cursor moved, and could not be noted in Postgres");
        }
        Ok(())
    }
}

/// Tries a transaction again that met a deadlock or a full server.
async fn again_after_deadlocks<T, F>(transact: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut attempt = 1;
    loop {
        match bounded(transact()).await {
            Err(StoreError::Unavailable { cause, .. }) if attempt < ATTEMPTS && is_passing(&cause) => {
                debug!(attempt, cause, "a transaction is tried again");
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

pub(crate) async fn roll_back(transaction: Txn) {
    if let Err(error) = transaction.rollback().await {
        debug!(%error, "a transaction was not rolled back in peace");
    }
}

/// Waits for an answer, but not for ever.
pub(crate) async fn bounded<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
    match timeout(ANSWER, work).await {
        Ok(answer) => answer.map_err(|error| explain(&error)),
        Err(_) => {
            let cause = format!("no answer within {} s", ANSWER.as_secs());
            Err(StoreError::Unavailable { store: NAME, cause })
        }
    }
}

/// Only what the server says about the statement or its data is the facts' fault.
pub(crate) fn explain(error: &Error) -> StoreError {
    let cause = error.to_string();
    match error {
        Error::Neo4j(refusal) if refusal.kind() == Neo4jErrorKind::Client(Neo4jClientErrorKind::Other) => {
            StoreError::Refused { store: NAME, cause }
        }
        Error::StringTooLong | Error::MapTooBig | Error::ListTooLong | Error::BytesTooBig => {
            StoreError::Refused { store: NAME, cause }
        }
        _ => StoreError::Unavailable { store: NAME, cause },
    }
}

/// Deadlocks and the like: the same transaction goes well when it is tried again at once.
fn is_passing(cause: &str) -> bool {
    cause.contains("Neo.TransientError.")
}

/// Rows for an `UNWIND`.
fn list(rows: Vec<Vec<(&'static str, BoltType)>>) -> BoltType {
    let map = |row: Vec<(&'static str, BoltType)>| {
        BoltType::Map(row.into_iter().map(|(name, value)| (name.into(), value)).collect())
    };
    rows.into_iter().map(map).collect()
}
