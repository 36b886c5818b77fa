//! Whether the stores hold what the journal says they must: the facts are folded with the projectors' own folds and
//! compared, row by row and column by column, with what is there.
//!
//! It runs beside everything else. A row whose last fact is newer than the cursor that was read at the start has moved
//! on meanwhile and is left out. What is held in memory at a time is bounded: a long history is gone over several
//! times, each time for another part of the rows.

mod clickhouse;
mod compare;
mod expected;
mod history;
mod neo4j;
mod postgres;
mod report;
mod stream;

use oxagen_domain::TenantId;
use oxagen_jetstream::Bus;
use oxagen_journal::{Journal, JournalError};

use crate::pages::{Page, Pages};
use crate::store::{Store, StoreError};
use crate::{ClickHouse, Neo4j, Postgres};

use compare::Findings;
use expected::{Cursors, Expected, Part};
use history::History;
pub use report::{ColumnDifference, Count, Difference, Outage, Report, Tally, What};

/// Facts in the journal for each time that it is gone over.
const PART: u64 = 100_000;
/// Facts after which what belongs to another part is dropped.
const DROP_AFTER: usize = 20_000;

/// Which facts and rows are looked at; what is not set does not restrict.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyOptions {
    /// Of this tenant alone.
    pub tenant: Option<TenantId>,
    /// Rows whose last fact comes after this `seq`.
    pub after: u64,
    /// Rows whose last fact comes no later than this `seq`.
    pub until: Option<u64>,
    /// Most differences that are named; all are counted. 0 stands for 100.
    pub limit: usize,
}

/// Compares stores with the journal. A store that was not given is left out.
#[derive(Clone)]
pub struct Verifier {
    journal: Journal,
    bus: Option<Bus>,
    postgres: Option<Postgres>,
    clickhouse: Option<ClickHouse>,
    neo4j: Option<Neo4j>,
}

impl Verifier {
    /// Looks at the journal alone.
    pub fn new(journal: Journal) -> Self {
        Self { journal, bus: None, postgres: None, clickhouse: None, neo4j: None }
    }

    /// Looks at the stream of facts too.
    #[must_use]
    pub fn with_stream(self, bus: Bus) -> Self {
        Self { bus: Some(bus), ..self }
    }

    /// Looks at the read models in Postgres too.
    #[must_use]
    pub fn with_postgres(self, store: Postgres) -> Self {
        Self { postgres: Some(store), ..self }
    }

    /// Looks at the analytic rows too.
    #[must_use]
    pub fn with_clickhouse(self, store: ClickHouse) -> Self {
        Self { clickhouse: Some(store), ..self }
    }

    /// Looks at the graph too. Edges of tenants that the journal does not know are another installation's.
    #[must_use]
    pub fn with_neo4j(self, store: Neo4j) -> Self {
        Self { neo4j: Some(store), ..self }
    }

    /// Compares. A store that is away is named in the report, and the others are compared.
    ///
    /// # Errors
    /// [`JournalError`] when the journal cannot be read: then nothing can be said.
    pub async fn run(&self, options: &VerifyOptions) -> Result<Report, JournalError> {
        let head = self.journal.head().await?;
        let mut findings = Findings::new(head, options);
        let cursors = self.cursors(&mut findings).await;
        let parts = head.div_ceil(PART).max(1);
        for number in 0..parts {
            let part = Part { number, of: parts };
            let mut expected = self.fold(part, &cursors, &mut findings).await?;
            if let (Some(store), Some(cursor)) = (&self.postgres, cursors.postgres) {
                let done = postgres::compare(store, &mut expected, cursor, &mut findings).await;
                findings.noted(store.name(), done);
            }
            if let (Some(store), Some(cursor)) = (&self.clickhouse, cursors.clickhouse) {
                let done = clickhouse::compare(store, &mut expected, cursor, &mut findings).await;
                findings.noted(store.name(), done);
            }
            if let (Some(store), Some(cursor)) = (&self.neo4j, cursors.neo4j) {
                let done = neo4j::compare(store, &mut expected, cursor, &mut findings).await;
                findings.noted(store.name(), done);
            }
        }
        if let Some(bus) = &self.bus {
            stream::compare(bus, &self.journal, &mut findings).await?;
        }
        let now = self.journal.head().await?;
        Ok(findings.report(now))
    }

    /// How far each store is; one that is away is noted and left out.
    async fn cursors(&self, findings: &mut Findings) -> Cursors {
        async fn cursor<S: Store>(store: Option<&S>, findings: &mut Findings) -> Option<u64> {
            let store = store?;
            findings.noted(store.name(), store.cursor().await)
        }
        Cursors {
            postgres: cursor(self.postgres.as_ref(), findings).await,
            clickhouse: cursor(self.clickhouse.as_ref(), findings).await,
            neo4j: cursor(self.neo4j.as_ref(), findings).await,
        }
    }

    /// Folds the whole history into what one part of the rows must be, and looks at the history itself on the way.
    async fn fold(
        &self,
        part: Part,
        cursors: &Cursors,
        findings: &mut Findings,
    ) -> Result<Expected, JournalError> {
        let head = findings.head();
        let (mut expected, mut history) = (Expected::new(part), History::new(part));
        let mut pages = Pages::new(&self.journal, 0, head);
        let mut since_drop = 0;
        while let Some(page) = pages.next().await? {
            match page {
                Page::Damaged { seq, cause } => history.damaged(seq, &cause, findings),
                Page::Facts(facts) => {
                    for fact in &facts {
                        history.take_in(fact, findings);
                        expected.take_in(fact, cursors, findings);
                    }
                    since_drop += facts.len();
                }
            }
            if since_drop >= DROP_AFTER {
                expected.drop_others();
                since_drop = 0;
            }
        }
        history.end(head, findings);
        expected.drop_others();
        Ok(expected)
    }
}

/// What a store's driver said, as a refusal of this store.
fn refused(store: &'static str, cause: impl ToString) -> StoreError {
    StoreError::Refused { store, cause: cause.to_string() }
}
