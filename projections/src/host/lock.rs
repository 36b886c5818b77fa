//! Which projector of a store is active: the one that holds a session's advisory lock. The server lets go of it when
//! the session ends, however it ends.

use std::time::Duration;

use oxagen_journal::Journal;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::backoff::Backoff;

/// Time between two attempts to take a lock that somebody has.
const TRY: Duration = Duration::from_millis(500);
/// Time between two looks at the session that holds the lock.
const LOOK: Duration = Duration::from_secs(1);
/// A session silent for this long counts as lost.
const SILENCE: Duration = Duration::from_secs(5);
/// The server ends a session that says nothing for so long: its process stands still, or cannot be heard. Longer than
/// it takes the process itself to notice.
const QUIET: &str = "set idle_session_timeout = '10s'";
const TAKE: &str = "select pg_try_advisory_lock(hashtextextended('oxagen/projector/' || $1, 0))";

/// The right to be active.
pub(super) struct Lock {
    lost: CancellationToken,
    release: CancellationToken,
    watcher: JoinHandle<()>,
}

impl Lock {
    /// Waits until nobody else has it. Safe to cancel.
    pub(super) async fn take(journal: &Journal, store: &'static str) -> Self {
        let mut backoff = Backoff::default();
        loop {
            match take(journal, store).await {
                Ok(session) => return Self::watch(session),
                Err(error) => {
                    warn!(%error, "cannot ask for the projector's lock, trying again");
                    backoff.wait().await;
                }
            }
        }
    }

    fn watch(mut session: PgConnection) -> Self {
        let (lost, release) = (CancellationToken::new(), CancellationToken::new());
        let (tell, told) = (lost.clone(), release.clone());
        let watcher = tokio::spawn(async move {
            while told.run_until_cancelled(sleep(LOOK)).await.is_some() {
                if !matches!(timeout(SILENCE, session.ping()).await, Ok(Ok(()))) {
                    warn!("the session that holds the projector's lock is lost");
                    tell.cancel();
                    return;
                }
            }
            // The lock is let go of now, instead of when the server notices.
            if let Ok(Err(error)) = timeout(SILENCE, session.close()).await {
                debug!(%error, "the session that held the projector's lock did not end in peace");
            }
        });
        Self { lost, release, watcher }
    }

    /// Cancelled by the shutdown or by the loss of the lock.
    pub(super) fn active_until(&self, shutdown: &CancellationToken) -> CancellationToken {
        let active = shutdown.child_token();
        let (lost, end) = (self.lost.clone(), active.clone());
        tokio::spawn(async move {
            if end.run_until_cancelled(lost.cancelled()).await.is_some() {
                end.cancel();
            }
        });
        active
    }

    /// Lets go of it.
    pub(super) async fn release(mut self) {
        self.release.cancel();
        if let Err(error) = (&mut self.watcher).await {
            warn!(%error, "the watcher of the projector's lock failed");
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.release.cancel();
    }
}

async fn take(journal: &Journal, store: &'static str) -> Result<PgConnection, sqlx::Error> {
    // Out of the pool for good: the lock lives as long as this session.
    let mut session = journal.pool().acquire().await?.detach();
    timeout(SILENCE, session.execute(QUIET)).await.map_err(|_| sqlx::Error::PoolTimedOut)??;
    loop {
        let taken = sqlx::query_scalar(TAKE).bind(store).fetch_one(&mut session);
        match timeout(SILENCE, taken).await {
            Ok(Ok(true)) => return Ok(session),
            Ok(Ok(false)) => sleep(TRY).await,
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(sqlx::Error::PoolTimedOut),
        }
    }
}
