//! The service: takes facts and carries out what follows from each.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use fail::fail_point;
use oxagen_commands::{Code, CommandError, Context};
use oxagen_domain::Fact;
use oxagen_domain::reaction::{Reaction, react};
use oxagen_jetstream::consume::{self, Job};
use oxagen_jetstream::topology;
use oxagen_journal::DeadLetter;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::{ReactorOptions, catalog, stop, timers};

/// Facts attended to at once.
const AT_ONCE: usize = 16;
/// A fact that fails this often for a reason that will not pass is set aside.
const TRIES: u64 = 5;
/// The name under which dead letters are kept.
const READER: &str = "reactor";

/// A process that reacts to facts.
pub struct Reactor {
    options: Arc<ReactorOptions>,
}

impl Reactor {
    /// A reactor that has not started yet.
    pub fn new(options: ReactorOptions) -> Self {
        Self { options: Arc::new(options) }
    }

    /// Works until told to stop, and then finishes what it has begun.
    pub async fn run(&self, shutdown: CancellationToken) {
        let mut helpers = JoinSet::new();
        helpers.spawn(timers::run(Arc::clone(&self.options)));
        helpers.spawn(catalog::publish(Arc::clone(&self.options)));
        let mut work = consume::work(&self.options.bus, &topology::REACTOR);
        let (mut tasks, permits) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
        info!("ready for facts");
        loop {
            while tasks.try_join_next().is_some() {}
            let permit = Arc::clone(&permits).acquire_owned().await;
            let received = tokio::select! {
                () = shutdown.cancelled() => break,
                received = work.next(permits.available_permits() + 1) => received,
            };
            let options = Arc::clone(&self.options);
            tasks.spawn(async move {
                let _permit = permit;
                match received {
                    Ok(job) => take(&options, job).await,
                    Err(unreadable) => match fact(&options, unreadable.seq).await {
                        Some(fact) => take(&options, unreadable.into_job(fact)).await,
                        None => error!(seq = unreadable.seq, cause = %unreadable.cause, "a message without a fact"),
                    },
                }
            });
        }
        while tasks.join_next().await.is_some() {}
    }
}

async fn fact(options: &ReactorOptions, seq: u64) -> Option<Fact> {
    let facts = options.commands.journal().read(seq.checked_sub(1)?, 1).await.ok()?;
    facts.into_iter().find(|fact| fact.seq == seq)
}

async fn take(options: &ReactorOptions, job: Job) {
    let answered = match job.while_working(carry_out(options, &job.fact)).await {
        Ok(()) => job.ack().await,
        Err(error) if error.code == Code::Unavailable || job.delivered < TRIES => {
            warn!(seq = job.fact.seq, kind = %job.fact.kind, %error, cause = ?error.cause, "trying again");
            job.nak(Duration::from_secs(1 << job.delivered.min(5))).await
        }
        Err(error) => match bury(options, &job, &error).await {
            Ok(()) => job.ack().await,
            Err(_) => job.nak(Duration::from_secs(30)).await,
        },
    };
    if let Err(error) = answered {
        warn!(%error, "the message comes again");
    }
}

/// Carries out everything that follows from a fact, in order.
async fn carry_out(options: &ReactorOptions, fact: &Fact) -> Result<(), CommandError> {
    let event = match fact.event() {
        Ok(Some(event)) => event,
        // A newer build knows what follows from it.
        Ok(None) => return Ok(()),
        Err(error) => return Err(CommandError::new(Code::Internal, error.to_string())),
    };
    let context = Context::after(fact, "reactor");
    for (nth, reaction) in react(fact, &event).into_iter().enumerate() {
        if nth > 0 {
            fail_point!("reactor.between", |_| std::process::abort());
        }
        match &reaction {
            Reaction::StopCalls { switch } => stop::calls(options, fact, switch).await?,
            Reaction::ClearCall { .. }
            | Reaction::RefuseCall { .. }
            | Reaction::AnswerTurn { .. }
            | Reaction::BeginTurn { .. } => options.commands.react(&context, &reaction).await?,
        }
    }
    Ok(())
}

/// Sets a fact aside that cannot be reacted to, for a person to look at.
async fn bury(options: &ReactorOptions, job: &Job, error: &CommandError) -> Result<(), CommandError> {
    error!(seq = job.fact.seq, kind = %job.fact.kind, %error, "set aside as a dead letter");
    let letter = DeadLetter {
        reader: READER.to_owned(),
        seq: job.fact.seq,
        error: error.to_string(),
        attempts: u32::try_from(job.delivered).unwrap_or(u32::MAX),
        first_at: Utc::now(),
        last_at: Utc::now(),
    };
    options.commands.journal().dead_letters().bury(&letter).await?;
    Ok(())
}
