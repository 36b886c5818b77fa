//! The journal, page by page, as whoever reads all of it does: a damaged fact is told and stepped over.

use oxagen_domain::Fact;
use oxagen_journal::{Journal, JournalError};

/// Most facts in a page.
const PAGE: u64 = 500;

/// What comes next.
pub(crate) enum Page {
    /// Facts, ascending, at least one.
    Facts(Vec<Fact>),
    /// A fact that cannot be read.
    Damaged {
        /// Its place.
        seq: u64,
        /// What is wrong with it.
        cause: String,
    },
}

/// The facts after a cursor, up to a last one.
pub(crate) struct Pages<'j> {
    journal: &'j Journal,
    cursor: u64,
    until: u64,
}

impl<'j> Pages<'j> {
    /// The facts after `after` up to `until`, itself included.
    pub(crate) fn new(journal: &'j Journal, after: u64, until: u64) -> Self {
        Self { journal, cursor: after, until }
    }

    /// The last place that was read.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next page; `None` after the last one.
    ///
    /// # Errors
    /// The journal's, but for damage.
    pub(crate) async fn next(&mut self) -> Result<Option<Page>, JournalError> {
        let mut limit = PAGE;
        while self.cursor < self.until {
            let limited = limit.min(self.until - self.cursor);
            match self.journal.read(self.cursor, u32::try_from(limited).unwrap_or(u32::MAX)).await {
                Ok(mut facts) => {
                    facts.retain(|fact| fact.seq <= self.until);
                    let Some(last) = facts.last() else { return Ok(None) };
                    self.cursor = last.seq;
                    return Ok(Some(Page::Facts(facts)));
                }
                // Up to the damaged one first.
                Err(JournalError::Damaged { seq, .. }) if seq > self.cursor + 1 && limit > 1 => {
                    limit = (seq - 1 - self.cursor).min(limit - 1);
                }
                Err(JournalError::Damaged { seq, cause }) => {
                    self.cursor = seq;
                    return Ok(Some(Page::Damaged { seq, cause }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}
