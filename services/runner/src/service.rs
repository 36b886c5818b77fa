//! The service: takes messages, attends to each in its own task, and lets go in time.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use oxagen_commands::CommandError;
use oxagen_domain::RunnerId;
use oxagen_jetstream::consume::{self, Job};
use oxagen_jetstream::live::LivePublisher;
use oxagen_jetstream::topology;
use oxagen_journal::{JournalError, Ownership};
use oxagen_sandbox::SandboxError;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, warn};

use crate::attend::Rest;
use crate::history::Pasts;
use crate::locks::Locks;
use crate::stops::Stops;
use crate::{RunnerOptions, Shared};

/// How long work under way may go on after the runner was told to stop.
const DRAIN: Duration = Duration::from_secs(10);
/// The longest wait before a journal that was away is asked again.
const AWAY: Duration = Duration::from_secs(1);
/// How often the containers of dead runners are looked for.
const REAP: Duration = Duration::from_secs(10);
/// The longest wait before a message is tried again.
const LONGEST_NAK: u64 = 30;

/// A process that advances turns.
pub struct Runner {
    shared: Arc<Shared>,
}

/// Why a runner stopped for good.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Another process has this runner's name.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Runner {
    /// A runner that has not started yet. Must be called inside a runtime.
    pub fn new(options: RunnerOptions) -> Self {
        let live = LivePublisher::start(&options.bus);
        let (locks, stops, pasts) = (Locks::default(), Stops::default(), Pasts::default());
        let shared = Shared { live, locks, stops, pasts, options };
        Self { shared: Arc::new(shared) }
    }

    /// Works until told to stop. When its lock on the journal is lost it drops what is under way, since others may
    /// take it over from then on, and begins anew.
    ///
    /// # Errors
    /// [`RunnerError`] when another process runs under the same name.
    pub async fn run(&self, shutdown: CancellationToken) -> Result<(), RunnerError> {
        while !shutdown.is_cancelled() {
            let ownership = tokio::select! {
                () = shutdown.cancelled() => break,
                owned = self.own() => owned?,
            };
            self.work(&ownership, &shutdown).await;
        }
        self.shared.options.sandbox.shutdown().await;
        Ok(())
    }

    async fn own(&self) -> Result<Ownership, JournalError> {
        let (options, mut wait) = (&self.shared.options, Duration::from_millis(200));
        loop {
            match options.commands.journal().own(options.id).await {
                Err(JournalError::Unavailable { source }) => {
                    warn!(%source, "the journal gives no lock, trying again");
                    wait = wait.min(AWAY);
                }
                // The server has not noticed yet that the session before is gone.
                Err(JournalError::Owned { .. }) if wait < Duration::from_secs(20) => {}
                done => return done,
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(25));
        }
    }

    async fn work(&self, ownership: &Ownership, shutdown: &CancellationToken) {
        let shared = &self.shared;
        let head = shared.options.commands.journal().head().await.unwrap_or_default();
        let mut tasks = JoinSet::new();
        let mut helpers = JoinSet::new();
        helpers.spawn(follow_stops(Arc::clone(shared), head));
        helpers.spawn(reap(Arc::clone(shared)));
        helpers.spawn(crate::sweep::sweep(Arc::clone(shared)));
        let permits = Arc::new(Semaphore::new(shared.options.concurrency));
        let mut work = consume::work(&shared.options.bus, &topology::RUNNER);
        info!(runner = %shared.options.id, "ready for turns");
        loop {
            while tasks.try_join_next().is_some() {}
            let permit = tokio::select! {
                () = shutdown.cancelled() => break,
                lost = ownership.lost() => {
                    warn!(%lost, "dropping what is under way");
                    tasks.shutdown().await;
                    return;
                }
                permit = Arc::clone(&permits).acquire_owned() => permit,
            };
            let received = tokio::select! {
                () = shutdown.cancelled() => break,
                lost = ownership.lost() => {
                    warn!(%lost, "dropping what is under way");
                    tasks.shutdown().await;
                    return;
                }
                received = work.next(permits.available_permits() + 1) => received,
            };
            let shared = Arc::clone(shared);
            tasks.spawn(async move {
                let _permit = permit;
                match received {
                    Ok(job) => take(&shared, job).await,
                    Err(unreadable) => match shared.fact(unreadable.seq).await {
                        Some(fact) => take(&shared, unreadable.into_job(fact)).await,
                        None => error!(seq = unreadable.seq, cause = %unreadable.cause, "a message without a fact"),
                    },
                }
            });
        }
        info!(under_way = tasks.len(), "letting go");
        let drained = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, drained).await.is_err() {
            tasks.shutdown().await;
        }
        shared.live.flush(Duration::from_secs(1)).await;
    }
}

impl Shared {
    async fn fact(&self, seq: u64) -> Option<oxagen_domain::Fact> {
        let facts = self.options.commands.journal().read(seq.checked_sub(1)?, 1).await.ok()?;
        facts.into_iter().find(|fact| fact.seq == seq)
    }
}

/// Attends to a message to its end, and says so to the stream.
async fn take(shared: &Arc<Shared>, job: Job) {
    let span = tracing::info_span!("attend", seq = job.fact.seq, kind = %job.fact.kind);
    let attended = std::panic::AssertUnwindSafe(shared.attend(&job.fact)).catch_unwind();
    let rest = match job.while_working(attended.instrument(span.clone())).await {
        Ok(rest) => rest,
        Err(_) => {
            span.in_scope(|| error!("a task panicked; the message comes again"));
            Err(CommandError::new(oxagen_commands::Code::Internal, "a task panicked"))
        }
    };
    let answered = match rest {
        Ok(Rest::Done) => job.ack().await,
        Ok(Rest::Elsewhere) => job.nak(later(job.delivered)).await,
        Err(error) => {
            span.in_scope(
                || warn!(code = error.code.name(), %error, cause = ?error.cause, "trying again later"),
            );
            job.nak(later(job.delivered)).await
        }
    };
    if let Err(error) = answered {
        span.in_scope(|| warn!(%error, "the message comes again"));
    }
}

/// 1 s, growing to 30 s.
fn later(delivered: u64) -> Duration {
    Duration::from_secs(1 << delivered.saturating_sub(1).min(5)).min(Duration::from_secs(LONGEST_NAK))
}

async fn follow_stops(shared: Arc<Shared>, after: u64) {
    shared.stops.follow(&shared.options.bus, &shared.options.commands, after).await;
}

/// Removes what dead runners left behind, at start and from time to time.
async fn reap(shared: Arc<Shared>) {
    loop {
        match shared.reap().await {
            Ok(0) => {}
            Ok(count) => info!(count, "removed containers of runners that are gone"),
            Err(error) => warn!(%error, "could not look for containers of runners that are gone"),
        }
        tokio::time::sleep(REAP).await;
    }
}

impl Shared {
    /// Removes containers of runners that are gone.
    pub(crate) async fn reap(&self) -> Result<usize, SandboxError> {
        let journal = self.options.commands.journal().clone();
        let is_alive = move |id: String| {
            let journal = journal.clone();
            async move {
                match id.parse::<RunnerId>() {
                    Ok(runner) => journal.is_alive(runner).await.unwrap_or(true),
                    Err(_) => true,
                }
            }
            .boxed()
        };
        self.options.sandbox.reap(&is_alive).await
    }
}
