//! The handle to the journal: a pool whose waits are all bounded.

use std::future::Future;
use std::pin::pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use crate::append::Commit;
use crate::error::JournalError;
use crate::lanes::Lanes;
use crate::load::Wanted;

/// Longest wait for the answer to one call; a server that stalls without closing counts as unavailable then.
pub(crate) const ANSWER: Duration = Duration::from_secs(15);
/// Longest wait for a sign of life from a pooled connection.
const LIFE: Duration = Duration::from_secs(2);
/// A connection idle for longer is asked for a sign of life before use; asking each time costs a round trip.
const IDLE: Duration = Duration::from_secs(1);
/// For so long after a wait was cut off, each connection that comes back is asked for a sign of life.
const WARY: Duration = Duration::from_secs(60);

/// Transactions of commits under way, and as many round trips that load: more of them only make each one smaller.
const LANES: usize = 2;

/// Limits that the server keeps, so that a stuck or vanished client lets go of its locks.
const SESSION: &[(&str, &str)] = &[
    ("lock_timeout", "5s"),
    ("statement_timeout", "12s"),
    ("idle_in_transaction_session_timeout", "15s"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
];

/// Where the journal is, and how much of it this process may use.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// `postgres://user:password@host:port/database`; a direct connection, not a transaction pooler.
    pub url: String,
    /// Size of the pool; 8 to 16 is right for two cores.
    pub max_connections: u32,
    /// Longest wait for a free connection.
    pub acquire_timeout: Duration,
}

/// Told after each commit that there is something to number. Ringing must not block; a lost ring costs 50 ms.
pub trait Doorbell: Send + Sync {
    /// Rings.
    fn ring(&self);
}

/// The journal. Cloning is cheap and shares the pool.
#[derive(Clone)]
pub struct Journal {
    pool: PgPool,
    address: Arc<PgConnectOptions>,
    doorbell: Option<Arc<dyn Doorbell>>,
    cuts: Cuts,
    appends: Lanes<Commit>,
    loads: Lanes<Wanted>,
}

impl Journal {
    /// Opens the journal and makes sure that the server answers.
    ///
    /// # Errors
    /// [`JournalError::Address`] for a bad URL, [`JournalError::Unavailable`] when nobody answers within
    /// `acquire_timeout`.
    pub async fn connect(options: &JournalOptions) -> Result<Self, JournalError> {
        let address = PgConnectOptions::from_str(&options.url)
            .map_err(|source| JournalError::Address { source })?
            .application_name("oxagen-journal")
            .options(SESSION.iter().copied())
            .disable_statement_logging();
        let cuts = Cuts::default();
        let seen = cuts.clone();
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move { Ok(meta.idle_for < IDLE || answers(connection).await) })
            })
            // The pool's own test on return has no limit and would keep the permit on a stalled server. One of ours
            // before it costs a round trip at each use, so only a connection that may be stuck is tested.
            .after_release(move |connection, _| {
                let wary = seen.any_lately();
                Box::pin(async move {
                    if !wary || answers(connection).await {
                        Ok(true)
                    } else {
                        Err(sqlx::Error::WorkerCrashed)
                    }
                })
            })
            .connect_with(address.clone())
            .await?;
        let (appends, loads) = (Lanes::new(LANES), Lanes::new(LANES));
        Ok(Self { pool, address: Arc::new(address), doorbell: None, cuts, appends, loads })
    }

    /// The same journal, ringing this bell after each commit.
    #[must_use]
    pub fn with_doorbell(mut self, doorbell: Arc<dyn Doorbell>) -> Self {
        self.doorbell = Some(doorbell);
        // Whoever carries out a commit rings its own bell, so commits do not go together with those of the other one.
        self.appends = Lanes::new(LANES);
        self
    }

    /// The pool, for a reader that keeps its own tables in the same database.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Asks the server for a sign of life.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn ping(&self) -> Result<(), JournalError> {
        self.bounded(async { Ok(sqlx::query("select 1").execute(&self.pool).await.map(drop)?) }).await
    }

    /// What tells this journal from any other: its cluster and its database.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn identity(&self) -> Result<String, JournalError> {
        const ASK: &str = "select system_identifier || '/' || current_database() from pg_control_system()";
        self.bounded(async { Ok(sqlx::query_scalar(ASK).fetch_one(&self.pool).await?) }).await
    }

    /// Commits that wait for their transaction.
    pub(crate) fn appends(&self) -> &Lanes<Commit> {
        &self.appends
    }

    /// Aggregates that wait to be loaded.
    pub(crate) fn loads(&self) -> &Lanes<Wanted> {
        &self.loads
    }

    /// Rings the doorbell, if there is one.
    pub(crate) fn ring(&self) {
        if let Some(doorbell) = &self.doorbell {
            doorbell.ring();
        }
    }

    /// A connection of its own, for what must live as long as one session.
    pub(crate) async fn session(&self, settings: &[(&str, &str)]) -> Result<PgConnection, JournalError> {
        let address = self.address.as_ref().clone().options(settings.iter().copied());
        self.bounded(async { Ok(PgConnection::connect_with(&address).await?) }).await
    }

    /// Waits for an answer, but not for ever.
    pub(crate) async fn bounded<T, E: From<JournalError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut work = pin!(work);
        // Dropped before the work, which then gives its connection back.
        let mut waiting = Waiting { cuts: &self.cuts, answered: false };
        let answer = timeout(ANSWER, work.as_mut()).await;
        waiting.answered = answer.is_ok();
        answer.unwrap_or_else(|_| Err(JournalError::silent(ANSWER).into()))
    }
}

/// When a wait was last given up, by its limit or by whoever waited: its connection may still owe an answer.
#[derive(Clone, Default)]
struct Cuts(Arc<Mutex<Option<Instant>>>);

impl Cuts {
    fn any_lately(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < WARY)
    }
}

/// A wait under way; dropped without an answer it is noted as cut off.
struct Waiting<'a> {
    cuts: &'a Cuts,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.answered {
            *self.cuts.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }
}

async fn answers(connection: &mut PgConnection) -> bool {
    matches!(timeout(LIFE, connection.ping()).await, Ok(Ok(())))
}
