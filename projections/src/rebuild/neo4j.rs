//! The graph in Neo4j, whose free edition has one database: built in place. What follows from the journal is written
//! again and stamped with this rebuild's generation; what lacks the stamp at the end is removed.

use std::collections::BTreeSet;

use neo4rs::{Error, Query, Txn, query};
use oxagen_domain::TenantId;
use oxagen_journal::Journal;
use uuid::Uuid;

use super::shadow::{Filling, Shadow};
use super::turn::Turn;
use super::{Change, Rebuild, RebuildError, Rebuilt, Tell};
use crate::neo4j::{Changes, NAME, Neo4j, bounded, roll_back};
use crate::store::{Batch, Store, StoreError};

/// Writing to the node takes its lock: the projector waits until the transaction ends.
const HOLD: &str = "
MERGE (c:ProjectionCursor {projection: $projection}) ON CREATE SET c.seq = 0
SET c.updatedAt = datetime()
RETURN c.seq AS count";

const STALE_EDGES: &[(&str, &str)] = &[
    (
        "INVOKED",
        "MATCH (e:Execution)-[i:INVOKED]->() WHERE e.tenant IN $tenants AND coalesce(i.generation, '') <> $generation
         DELETE i RETURN count(*) AS count",
    ),
    (
        "APPROVED_BY",
        "MATCH (e:Execution)-[a:APPROVED_BY]->() WHERE e.tenant IN $tenants AND coalesce(a.generation, '') <> $generation
         DELETE a RETURN count(*) AS count",
    ),
    (
        "nodes",
        "MATCH (n:Execution|ToolVersion|User) WHERE n.tenant IN $tenants AND coalesce(n.generation, '') <> $generation
           AND NOT (n)--()
         DELETE n RETURN count(*) AS count",
    ),
];

impl Rebuild for Neo4j {
    async fn rebuild(&self, journal: &Journal, tell: Tell<'_>) -> Result<Rebuilt, RebuildError> {
        let turn = Turn::take(&self.cursors, NAME).await?;
        self.prepare().await?;
        let generation = Uuid::now_v7().to_string();
        let shadow = Generation { store: self, generation, head: journal.head().await? };
        let mut filling = Filling::new(&shadow, journal, tell);
        filling.come_near().await?;

        let apart = self.apart()?;
        let mut transaction = bounded(apart.start_txn()).await?;
        let replaced = async {
            let hold = query(HOLD).param("projection", self.projection.as_str());
            let cursor = count(&mut transaction, hold).await?;
            filling.fill(cursor).await?;
            let tables = remove_stale(&mut transaction, &filling.tenants, &shadow.generation).await?;
            Ok::<_, RebuildError>((cursor, tables))
        };
        let (cursor, tables) = match replaced.await {
            Ok(replaced) => replaced,
            Err(error) => {
                roll_back(transaction).await;
                return Err(error);
            }
        };
        bounded(transaction.commit()).await?;
        let refused = filling.refused;
        turn.end().await;
        Ok(Rebuilt { store: NAME, cursor, refused, tables })
    }
}

/// The graph with this rebuild's stamp.
struct Generation<'n> {
    store: &'n Neo4j,
    generation: String,
    /// The journal's end at the start: an edge that names a later fact is newer than what is written again, or wrong.
    head: u64,
}

impl Shadow for Generation<'_> {
    async fn put(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let changes = Changes::of(batch.facts)?.rewritten();
        let head = self.head.max(batch.to).cast_signed();
        let stamped =
            |change: Query| change.param("generation", self.generation.as_str()).param("head", head);
        self.store.write(changes.into_iter().map(stamped).collect()).await
    }

    async fn live(&self) -> Result<u64, StoreError> {
        self.store.cursor().await
    }

    fn store(&self) -> &'static str {
        NAME
    }
}

async fn remove_stale(
    transaction: &mut Txn,
    tenants: &BTreeSet<TenantId>,
    generation: &str,
) -> Result<Vec<Change>, StoreError> {
    let tenants: Vec<String> = tenants.iter().map(ToString::to_string).collect();
    let mut changes = Vec::new();
    for (table, remove) in STALE_EDGES {
        let remove = query(remove).param("tenants", tenants.clone()).param("generation", generation);
        changes.push(Change { table, removed: count(transaction, remove).await?, written: 0 });
    }
    Ok(changes)
}

/// Runs a statement that gives one number.
async fn count(transaction: &mut Txn, query: Query) -> Result<u64, StoreError> {
    let work = async {
        let mut rows = transaction.execute(query).await?;
        let row = rows.next(transaction.handle()).await?.ok_or(Error::NoMoreRows)?;
        let count = row.get::<i64>("count")?.unsigned_abs();
        // What is left unread on the connection would be in the way of the next statement.
        while rows.next(transaction.handle()).await?.is_some() {}
        Ok(count)
    };
    bounded(work).await
}
