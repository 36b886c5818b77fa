//! What is being built, and how facts get into it.

use std::collections::BTreeSet;
use std::future::Future;

use oxagen_domain::{Fact, TenantId};
use oxagen_journal::Journal;
use tracing::warn;

use super::{Progress, RebuildError, Tell};
use crate::pages::{Page, Pages};
use crate::store::{Batch, StoreError};

/// Most facts taken in at a time.
const PAGE: usize = 2_000;
/// Who is no further behind than this holds the cursor and takes in the rest.
const NEAR: u64 = 500;

/// What is being built.
pub(super) trait Shadow: Sync {
    /// Takes facts in, all or none; a repeat changes nothing.
    fn put(&self, batch: Batch<'_>) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Where the live projection is.
    fn live(&self) -> impl Future<Output = Result<u64, StoreError>> + Send;
    /// The projection's name.
    fn store(&self) -> &'static str;
}

/// A shadow being filled from the journal.
pub(super) struct Filling<'f, S> {
    pub(super) shadow: &'f S,
    journal: &'f Journal,
    tell: Tell<'f>,
    at: u64,
    /// Facts that cannot be taken in.
    pub(super) refused: Vec<u64>,
    /// Everybody whom the journal knows.
    pub(super) tenants: BTreeSet<TenantId>,
}

impl<'f, S: Shadow> Filling<'f, S> {
    /// An empty one.
    pub(super) fn new(shadow: &'f S, journal: &'f Journal, tell: Tell<'f>) -> Self {
        Self { shadow, journal, tell, at: 0, refused: Vec::new(), tenants: BTreeSet::new() }
    }

    /// Fills it until it is close behind the live projection.
    pub(super) async fn come_near(&mut self) -> Result<(), RebuildError> {
        loop {
            let live = self.shadow.live().await?;
            self.fill(live).await?;
            if self.shadow.live().await? <= self.at + NEAR {
                return Ok(());
            }
        }
    }

    /// Fills it up to this fact.
    pub(super) async fn fill(&mut self, until: u64) -> Result<(), RebuildError> {
        let head = self.journal.head().await?;
        if head < until {
            return Err(RebuildError::OtherJournal { store: self.shadow.store(), cursor: until, head });
        }
        let mut pages = Pages::new(self.journal, self.at, until, PAGE);
        while let Some(page) = pages.next().await? {
            match page {
                Page::Facts(facts) => {
                    self.tenants.extend(facts.iter().map(|fact| fact.tenant_id));
                    self.take_in(&facts).await?;
                }
                Page::Damaged { seq, cause } => self.refuse(seq, &cause),
            }
            self.at = pages.cursor();
            (self.tell)(Progress { at: self.at, of: until });
        }
        self.at = until;
        Ok(())
    }

    /// A page that is refused is halved until the fact that is to blame is alone.
    async fn take_in(&mut self, facts: &[Fact]) -> Result<(), StoreError> {
        let mut parts = vec![facts];
        while let Some(part) = parts.pop() {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            match self.shadow.put(Batch { from: first.seq - 1, facts: part, to: last.seq }).await {
                Err(StoreError::Refused { .. }) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(StoreError::Refused { cause, .. }) => self.refuse(last.seq, &cause),
                put => put?,
            }
        }
        Ok(())
    }

    fn refuse(&mut self, seq: u64, cause: &str) {
        warn!(seq, cause, "a fact is left out");
        self.refused.push(seq);
    }
}
