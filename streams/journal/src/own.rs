//! Which runner is alive: each holds a session lock under its own id, on a connection of its own.
//!
//! The server lets go of the lock when the session ends, however it ends; so a free lock means a dead runner,
//! and silence on the stream alone means nothing.

use std::sync::Arc;
use std::time::Duration;

use oxagen_domain::RunnerId;
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::error::JournalError;
use crate::journal::Journal;
use crate::lock;

/// Time between two looks at the session.
const LOOK: Duration = Duration::from_secs(1);
/// A session silent for this long counts as lost.
const SILENCE: Duration = Duration::from_secs(5);

/// The server ends a session that says nothing for so long: its process stands still, or cannot be heard. Longer than
/// it takes the process itself to notice, so that it has let go of its turns before.
const QUIET: &[(&str, &str)] = &[("idle_session_timeout", "10s")];

/// The session that held a runner's lock is gone: others may take over its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("runner {runner} lost its lock on the journal; its turns may have been taken over")]
pub struct OwnershipLost {
    /// The runner.
    pub runner: RunnerId,
}

/// A runner's proof of life. Dropping it ends the session and with it the lock.
#[derive(Debug)]
pub struct Ownership {
    runner: RunnerId,
    session: Arc<Mutex<PgConnection>>,
    lost: watch::Receiver<bool>,
    watcher: JoinHandle<()>,
}

impl Ownership {
    /// Whose it is.
    pub fn runner(&self) -> RunnerId {
        self.runner
    }

    /// Asks the session for a sign of life.
    ///
    /// # Errors
    /// [`OwnershipLost`], from then on always.
    pub async fn check(&mut self) -> Result<(), OwnershipLost> {
        if !*self.lost.borrow() && answers(&self.session).await {
            return Ok(());
        }
        self.watcher.abort();
        Err(OwnershipLost { runner: self.runner })
    }

    /// Waits until the session is lost; a session is looked at once a second.
    pub async fn lost(&self) -> OwnershipLost {
        // An error means that the watcher is gone, and it only goes when the session is lost.
        let _ = self.lost.clone().wait_for(|lost| *lost).await;
        OwnershipLost { runner: self.runner }
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

impl Journal {
    /// Takes a runner's lock.
    ///
    /// # Errors
    /// [`JournalError::Owned`] when another process has it, or [`JournalError::Unavailable`].
    pub async fn own(&self, runner: RunnerId) -> Result<Ownership, JournalError> {
        let mut session = self.session(QUIET).await?;
        let taken = sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(key(runner));
        let taken: bool =
            self.bounded(async { Ok::<_, JournalError>(taken.fetch_one(&mut session).await?) }).await?;
        if !taken {
            return Err(JournalError::Owned { runner });
        }
        let session = Arc::new(Mutex::new(session));
        let (tell, lost) = watch::channel(false);
        let watched = Arc::clone(&session);
        let watcher = tokio::spawn(async move {
            while answers(&watched).await {
                sleep(LOOK).await;
            }
            tell.send_replace(true);
        });
        Ok(Ownership { runner, session, lost, watcher })
    }

    /// Whether some process holds this runner's lock.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`]; then nothing is known, and nothing may be taken over.
    pub async fn is_alive(&self, runner: RunnerId) -> Result<bool, JournalError> {
        // Looked up instead of tried, so that a runner that starts at this moment is not turned away.
        const HELD: &str = "
            select exists (
              select from pg_locks
              where locktype = 'advisory' and granted and objsubid = 1
                and database = (select oid from pg_database where datname = current_database())
                and (classid::int8 << 32) | objid::int8 = $1)";
        let held = sqlx::query_scalar(HELD).bind(key(runner));
        self.bounded(async { Ok(held.fetch_one(self.pool()).await?) }).await
    }
}

fn key(runner: RunnerId) -> i64 {
    lock::key("runner", &[&runner.to_string()])
}

async fn answers(session: &Mutex<PgConnection>) -> bool {
    timeout(SILENCE, async { session.lock().await.ping().await }).await.is_ok_and(|answer| answer.is_ok())
}
