//! The journal, page by page, as whoever reads much of it does: the next pages are read while one is worked on, and a
//! damaged fact is told and stepped over.

use std::collections::VecDeque;
use std::future::pending;
use std::panic::resume_unwind;

use oxagen_domain::Fact;
use oxagen_journal::{Journal, JournalError};
use tokio_util::task::AbortOnDropHandle;

/// Pages on their way at a time, each over a connection of its own.
const AHEAD: usize = 2;

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
pub(crate) struct Pages {
    journal: Journal,
    cursor: u64,
    until: u64,
    /// Most facts in a page.
    most: u64,
    /// Asked for already, in order.
    ahead: VecDeque<Asked>,
}

/// A page on its way: the facts up to its end.
struct Asked {
    end: u64,
    answer: AbortOnDropHandle<Result<Vec<Fact>, JournalError>>,
}

impl Pages {
    /// The facts after `after` up to `until`, itself included, `most` at a time.
    pub(crate) fn new(journal: &Journal, after: u64, until: u64, most: usize) -> Self {
        let ahead = VecDeque::with_capacity(AHEAD);
        Self { journal: journal.clone(), cursor: after, until, most: most as u64, ahead }
    }

    /// The last place that was read.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next page; `None` after the last one, or when the journal has nothing there.
    ///
    /// # Errors
    /// The journal's, but for damage. What comes next is then asked for again.
    pub(crate) async fn next(&mut self) -> Result<Option<Page>, JournalError> {
        let mut limit = self.most;
        while self.cursor < self.until {
            match self.facts(limit).await {
                Ok(facts) => {
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

    /// The facts after the cursor, as the next page ahead has them.
    async fn facts(&mut self, limit: u64) -> Result<Vec<Fact>, JournalError> {
        if limit == self.most {
            self.read_ahead();
            if let Some(asked) = self.ahead.front_mut() {
                let (answer, end) = (arrived(&mut asked.answer).await, asked.end);
                self.ahead.pop_front();
                let mut facts = answer.inspect_err(|_| self.ahead.clear())?;
                facts.retain(|fact| fact.seq <= end);
                if facts.last().is_some_and(|last| last.seq == end) {
                    return Ok(facts);
                }
            }
            // A number is missing at the page's end: what follows it is where no page ahead begins.
            self.ahead.clear();
        }
        let mut facts = self.journal.read(self.cursor, bounded(limit.min(self.until - self.cursor))).await?;
        facts.retain(|fact| fact.seq <= self.until);
        Ok(facts)
    }

    fn read_ahead(&mut self) {
        let mut asked = self.ahead.back().map_or(self.cursor, |last| last.end);
        while self.ahead.len() < AHEAD && asked < self.until {
            let (journal, after) = (self.journal.clone(), asked);
            asked = self.until.min(after + self.most);
            let limit = bounded(asked - after);
            let answer = tokio::spawn(async move { journal.read(after, limit).await });
            self.ahead.push_back(Asked { end: asked, answer: AbortOnDropHandle::new(answer) });
        }
    }
}

async fn arrived<T>(answer: &mut AbortOnDropHandle<T>) -> T {
    match answer.await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and with it whoever waits here.
            Err(_) => pending().await,
        },
    }
}

fn bounded(limit: u64) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX)
}
