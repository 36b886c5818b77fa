//! Commits that go together: one statement, one transaction, and each commit's own outcome.

use std::collections::{BTreeMap, HashMap, VecDeque};

use fail::fail_point;
use oxagen_domain::Fact;
use sqlx::Row;
use sqlx::postgres::PgRow;
use tokio::sync::oneshot;

use super::text::Texts;
use super::{AppendError, Appended, Guard, NewEvent};
use crate::error::JournalError;
use crate::journal::Journal;
use crate::lock;

/// Commits in one transaction at most.
const MOST: usize = 128;
/// Bytes of events in one transaction at most, unless a single commit has more.
const BYTES: usize = 4 * 1024 * 1024;
/// Commits looked at for one transaction at most.
const LOOKED_AT: usize = 512;

const APPEND: &str = "
select fallen, positions
from journal.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";

/// A commit that waits for its transaction.
pub(crate) struct Commit {
    events: Vec<NewEvent>,
    guards: Vec<Guard>,
    /// What the server is told, written by whoever commits.
    texts: Vec<Texts>,
    /// Key of each aggregate that it touches, and whether it writes it.
    locks: BTreeMap<i64, bool>,
    answer: oneshot::Sender<Result<Vec<Appended>, AppendError>>,
}

impl Commit {
    /// A commit, and where its outcome will be told.
    pub(super) fn new(
        events: Vec<NewEvent>,
        guards: Vec<Guard>,
    ) -> (Self, oneshot::Receiver<Result<Vec<Appended>, AppendError>>) {
        let (answer, told) = oneshot::channel();
        let key = |kind: &str, id: &str| lock::key("aggregate", &[kind, id]);
        let shared = guards.iter().map(|guard| (key(guard.aggregate_type, &guard.aggregate_id), false));
        let written = events.iter().map(|event| (key(event.aggregate_type, &event.aggregate_id), true));
        // What is both guarded and written is locked once, as written: a lock is never raised later.
        let locks = shared.chain(written).collect();
        let texts = events.iter().map(Texts::of).collect();
        (Self { events, guards, texts, locks, answer }, told)
    }

    /// What it rests on: guards first, as given, then each aggregate that it writes, at the version before.
    fn rests(&self) -> Vec<(&'static str, &str, u64)> {
        let guards =
            self.guards.iter().map(|guard| (guard.aggregate_type, &*guard.aggregate_id, guard.version));
        let mut rests: Vec<_> = guards.collect();
        let mut written = Vec::new();
        for event in &self.events {
            let aggregate = (event.aggregate_type, &*event.aggregate_id);
            if !written.contains(&aggregate) {
                written.push(aggregate);
                rests.push((aggregate.0, aggregate.1, event.version.saturating_sub(1)));
            }
        }
        rests
    }

    fn bytes(&self) -> usize {
        self.texts.iter().map(|texts| texts.payload.len() + texts.metadata.len()).sum()
    }

    fn tell(self, outcome: Result<Vec<Appended>, AppendError>) {
        // Who is gone does not want to know.
        let _ = self.answer.send(outcome);
    }
}

/// Takes commits that have nothing to do with each other, the oldest first; the others wait for the next transaction.
/// Commits whose makers are gone are forgotten.
pub(super) fn pick(waiting: &mut VecDeque<Commit>) -> Vec<Commit> {
    waiting.retain(|commit| !commit.answer.is_closed());
    let (mut picked, mut left) = (Vec::new(), Vec::new());
    let (mut locks, mut bytes) = (HashMap::new(), 0);
    for _ in 0..LOOKED_AT {
        if picked.len() == MOST {
            break;
        }
        let Some(commit) = waiting.pop_front() else { break };
        let clashes = |(key, writes): (&i64, &bool)| locks.get(key).is_some_and(|other| *other || *writes);
        let size = commit.bytes();
        if commit.locks.iter().any(clashes) || (!picked.is_empty() && bytes + size > BYTES) {
            left.push(commit);
            continue;
        }
        locks.extend(&commit.locks);
        bytes += size;
        picked.push(commit);
    }
    for commit in left.into_iter().rev() {
        waiting.push_front(commit);
    }
    picked
}

impl Journal {
    /// Commits them together. What the server refuses as a whole is tried again one by one, so that each of them has
    /// the outcome that it would have had alone.
    pub(super) async fn commit(&self, mut batch: Vec<Commit>) {
        match self.bounded(self.ask(&batch)).await {
            Ok(row) => self.committed(batch, &row),
            Err(error) if batch.len() == 1 => {
                if let Some(commit) = batch.pop() {
                    commit.tell(Err(error));
                }
            }
            Err(AppendError::Unavailable { source }) => {
                let cause = source.to_string();
                for commit in batch {
                    let source = sqlx::Error::Protocol(cause.clone());
                    commit.tell(Err(AppendError::Unavailable { source }));
                }
            }
            Err(_) => {
                for commit in batch {
                    Box::pin(self.commit(vec![commit])).await;
                }
            }
        }
    }

    async fn ask(&self, batch: &[Commit]) -> Result<PgRow, AppendError> {
        let mut locks = BTreeMap::<i64, bool>::new();
        for (key, writes) in batch.iter().flat_map(|commit| &commit.locks) {
            *locks.entry(*key).or_default() |= writes;
        }
        let (keys, exclusive): (Vec<_>, Vec<_>) = locks.into_iter().unzip();
        let nth = |nth: usize| i32::try_from(nth).unwrap_or(i32::MAX);
        let (mut rest_commits, mut rests) = (Vec::new(), Vec::new());
        let (mut event_commits, mut events) = (Vec::new(), Vec::new());
        for (at, commit) in batch.iter().enumerate() {
            rests.extend(commit.rests());
            rest_commits.resize(rests.len(), nth(at));
            events.extend(commit.events.iter().zip(&commit.texts));
            event_commits.resize(events.len(), nth(at));
        }
        let statement = sqlx::query(APPEND)
            .bind(keys)
            .bind(exclusive)
            .bind(rest_commits)
            .bind(rests.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>())
            .bind(rests.iter().map(|(_, id, _)| *id).collect::<Vec<_>>())
            .bind(rests.iter().map(|(.., version)| version.cast_signed()).collect::<Vec<_>>())
            .bind(event_commits)
            .bind(events.iter().map(|(event, _)| event.aggregate_type).collect::<Vec<_>>())
            .bind(events.iter().map(|(event, _)| &*event.aggregate_id).collect::<Vec<_>>())
            .bind(events.iter().map(|(event, _)| event.version.cast_signed()).collect::<Vec<_>>())
            .bind(events.iter().map(|(event, _)| event.kind).collect::<Vec<_>>())
            .bind(events.iter().map(|(event, _)| event.form.to_string()).collect::<Vec<_>>())
            .bind(events.iter().map(|(_, texts)| &*texts.payload).collect::<Vec<_>>())
            .bind(events.iter().map(|(_, texts)| &*texts.metadata).collect::<Vec<_>>())
            .bind(events.iter().map(|(event, _)| event.metadata.occurred_at).collect::<Vec<_>>());
        Ok(statement.fetch_one(self.pool()).await?)
    }

    /// Tells each commit what became of it.
    fn committed(&self, batch: Vec<Commit>, row: &PgRow) {
        fail_point!("journal.committed", |_| std::process::abort());
        let outcome = row.try_get::<Vec<i64>, _>("fallen").and_then(|fallen| {
            let positions = row.try_get::<Vec<i64>, _>("positions")?;
            Ok((fallen, positions))
        });
        let (fallen, positions) = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                let cause = error.to_string();
                for commit in batch {
                    let source = sqlx::Error::Protocol(cause.clone());
                    commit.tell(Err(AppendError::Journal(JournalError::Database { source })));
                }
                return;
            }
        };
        if !positions.is_empty() {
            self.ring();
        }
        let (mut rest, mut positions) = (0, positions.into_iter());
        for commit in batch {
            let first = rest + 1;
            rest += commit.rests().len() as i64;
            match fallen.iter().find(|nth| (first..=rest).contains(nth)) {
                Some(nth) => {
                    let guard = usize::try_from(nth - first).ok().and_then(|nth| commit.guards.get(nth));
                    let error = guard.map_or(AppendError::Conflict, |guard| AppendError::GuardFailed {
                        aggregate_type: guard.aggregate_type,
                        aggregate_id: guard.aggregate_id.clone(),
                    });
                    commit.tell(Err(error));
                }
                None => {
                    let appended =
                        commit.events.iter().zip(&mut positions).map(|(event, position)| Appended {
                            event_id: Fact::event_id(
                                event.aggregate_type,
                                &event.aggregate_id,
                                event.version,
                            ),
                            version: event.version,
                            position: position.unsigned_abs(),
                        });
                    let appended = appended.collect();
                    commit.tell(Ok(appended));
                }
            }
        }
    }
}
