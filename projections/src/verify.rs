//! Whether the stores hold what the journal says they must: the facts are folded with the projectors' own folds and
//! compared, row by row and column by column, with what is there.
//!
//! It runs beside everything else. A row whose last fact is newer than the cursor that was read at the start has moved
//! on meanwhile and is left out. What is held in memory at a time is bounded: a long history is gone over several
//! times, each time for another part of the rows. Whoever asks for what changed lately waits for no more than that.

mod clickhouse;
mod compare;
mod expected;
mod history;
mod neo4j;
mod postgres;
mod report;
mod stream;

use std::collections::BTreeSet;

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
const PART: u64 = 200_000;
/// Facts after a place that are held in memory when only what changed since is looked at.
const RECENT: u64 = 50_000;
/// Facts read at a time.
const PAGE: usize = 2_000;
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
        if let Some(mut expected) = self.recent(&cursors, &mut findings).await? {
            self.compare(&mut expected, &cursors, &mut findings).await;
        } else {
            let parts = head.div_ceil(PART).max(1);
            for number in 0..parts {
                let mut expected = self.fold(Part { number, of: parts }, &cursors, &mut findings).await?;
                self.compare(&mut expected, &cursors, &mut findings).await;
            }
        }
        if let Some(bus) = &self.bus {
            stream::compare(bus, &self.journal, &mut findings).await?;
        }
        let now = self.journal.head().await?;
        Ok(findings.report(now))
    }

    /// What must be there against what is there, store by store.
    async fn compare(&self, expected: &mut Expected, cursors: &Cursors, findings: &mut Findings) {
        if let (Some(store), Some(cursor)) = (&self.postgres, cursors.postgres) {
            let done = postgres::compare(store, expected, cursor, findings).await;
            findings.noted(store.name(), done);
        }
        if let (Some(store), Some(cursor)) = (&self.clickhouse, cursors.clickhouse) {
            let done = clickhouse::compare(store, expected, cursor, findings).await;
            findings.noted(store.name(), done);
        }
        if let (Some(store), Some(cursor)) = (&self.neo4j, cursors.neo4j) {
            let done = neo4j::compare(store, expected, cursor, findings).await;
            findings.noted(store.name(), done);
        }
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

    /// Folds what happened after the place that was asked for, and what happened before to the same aggregates and in
    /// the same turns: no other fact speaks of a row that has changed since. `None` when that is no shorter way.
    async fn recent(
        &self,
        cursors: &Cursors,
        findings: &mut Findings,
    ) -> Result<Option<Expected>, JournalError> {
        let (head, (after, _)) = (findings.head(), findings.window());
        if after == 0 || head.saturating_sub(after) > RECENT {
            return Ok(None);
        }
        let mut pages = Pages::new(&self.journal, after, head, PAGE);
        let (mut all, mut aggregates, mut turns) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        while let Some(page) = pages.next().await? {
            if let Page::Facts(facts) = &page {
                let names = facts.iter().map(|fact| (fact.aggregate_type.clone(), fact.aggregate_id.clone()));
                aggregates.extend(names);
                turns.extend(facts.iter().filter_map(|fact| fact.turn_id));
            }
            all.push(page);
        }
        let past = match self.journal.past_of(&aggregates, &turns, after).await {
            Ok(past) => past,
            // Whoever reads all of it steps over what is damaged.
            Err(JournalError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let part = Part { number: 0, of: 1 };
        let (mut expected, mut history) = (Expected::new(part), History::after(part, after));
        expected.tenants = match findings.tenant {
            Some(tenant) => BTreeSet::from([tenant]),
            None => self.journal.tenants().await?,
        };
        for fact in &past {
            history.remember(fact);
            expected.take_in(fact, cursors, findings);
        }
        for page in all {
            take_in(page, &mut expected, &mut history, (cursors, findings));
        }
        history.end(head, findings);
        Ok(Some(expected))
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
        let mut pages = Pages::new(&self.journal, 0, head, PAGE);
        let mut since_drop = 0;
        while let Some(page) = pages.next().await? {
            since_drop += take_in(page, &mut expected, &mut history, (cursors, findings));
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

/// Folds a page, and looks at the history on the way; gives the number of its facts.
fn take_in(
    page: Page,
    expected: &mut Expected,
    history: &mut History,
    (cursors, findings): (&Cursors, &mut Findings),
) -> usize {
    match page {
        Page::Damaged { seq, cause } => {
            history.damaged(seq, &cause, findings);
            0
        }
        Page::Facts(facts) => {
            for fact in &facts {
                history.take_in(fact, findings);
                expected.take_in(fact, cursors, findings);
            }
            facts.len()
        }
    }
}

/// What a store's driver said, as a refusal of this store.
fn refused(store: &'static str, cause: impl ToString) -> StoreError {
    StoreError::Refused { store, cause: cause.to_string() }
}
