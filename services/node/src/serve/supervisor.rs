//! Runs roles side by side. One that ends takes the process down; a signal lets all of them end in order.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, info_span, warn};

use super::board::Board;
use super::signal::Stops;
use super::{Parts, Role, admin};
use crate::config::Config;
use crate::failure::Failure;

/// What is left for those that carry facts after those that make them have stopped.
const CARRIERS: Duration = Duration::from_secs(4);

/// The roles as they run.
struct Running {
    tasks: JoinSet<(Role, Result<(), Failure>)>,
    roles: Vec<Role>,
    /// Stops what makes facts.
    makers: CancellationToken,
    /// Stops what carries them.
    carriers: CancellationToken,
}

/// Runs the roles until a signal comes.
///
/// # Errors
/// What a role could not mend by waiting, or that it ended by itself.
pub(crate) async fn run(config: &Config, roles: &[Role]) -> Result<(), Failure> {
    let mut stops = Stops::listen()?;
    let board = Board::new(roles);
    if let Some(listen) = &config.process.admin_listen {
        admin::start(listen, board.clone()).await?;
    }
    let parts = tokio::select! {
        parts = Parts::connect(config) => parts?,
        signal = stops.next() => {
            info!(signal, "stopped while it waited for its servers");
            return Ok(());
        }
    };
    let mut running = Running::start(&parts, &board, roles);
    let ended = tokio::select! {
        ended = running.ended() => Err(ended),
        signal = stops.next() => {
            info!(signal, "stopping: what is under way may end, a second signal cuts it off");
            Ok(())
        }
    };
    let drain = Duration::from_secs(config.process.drain);
    tokio::select! {
        drained = running.drain(drain) => ended.and(drained),
        signal = stops.next() => {
            warn!(signal, "cut off");
            ended.and(Err(Failure::Interrupted))
        }
    }
}

impl Running {
    fn start(parts: &Parts, board: &Board, roles: &[Role]) -> Self {
        let (makers, carriers, mut tasks) =
            (CancellationToken::new(), CancellationToken::new(), JoinSet::new());
        for role in roles.iter().copied() {
            let stop = if role.makes_facts() { makers.clone() } else { carriers.clone() };
            let (parts, board) = (parts.clone(), board.clone());
            let work = async move {
                let ended = AssertUnwindSafe(role.run(parts, board, stop)).catch_unwind().await;
                (role, ended.unwrap_or_else(|_| Err(Failure::Failed("it panicked, see the log".to_owned()))))
            };
            tasks.spawn(work.instrument(info_span!("role", name = role.name())));
        }
        Self { tasks, roles: roles.to_vec(), makers, carriers }
    }

    /// Waits until a role ends by itself, which none of them should.
    async fn ended(&mut self) -> Failure {
        let failure = match self.next().await {
            Some((role, Err(failure))) => return with_role(role, failure),
            Some((role, Ok(()))) => format!("the role {} ended by itself", role.name()),
            None => "no role runs".to_owned(),
        };
        Failure::Failed(failure)
    }

    async fn next(&mut self) -> Option<(Role, Result<(), Failure>)> {
        let (role, ended) = self.tasks.join_next().await?.ok()?;
        self.roles.retain(|other| *other != role);
        if let Err(failure) = &ended {
            error!(role = role.name(), %failure, "a role failed");
        }
        Some((role, ended))
    }

    /// Lets all of them end: first those that make facts, then those that carry them.
    async fn drain(&mut self, limit: Duration) -> Result<(), Failure> {
        let begun = Instant::now();
        self.makers.cancel();
        let makers = async {
            while self.roles.iter().any(|role| role.makes_facts()) && self.next().await.is_some() {}
        };
        if timeout_at(begun + limit.saturating_sub(CARRIERS), makers).await.is_err() {
            warn!(roles = ?self.names(), "still at work");
        }
        self.carriers.cancel();
        let all = async { while self.next().await.is_some() {} };
        if timeout_at(begun + limit, all).await.is_err() {
            let names = self.names().join(", ");
            self.tasks.abort_all();
            return Err(Failure::Failed(format!(
                "{names} did not end within {} s and were cut off",
                limit.as_secs()
            )));
        }
        info!(seconds = begun.elapsed().as_secs_f32(), "stopped");
        Ok(())
    }

    fn names(&self) -> Vec<&'static str> {
        self.roles.iter().map(|role| role.name()).collect()
    }
}

/// The failure with the role that it stopped.
fn with_role(role: Role, failure: Failure) -> Failure {
    let text = format!("the role {} stopped: {failure}", role.name());
    match failure {
        Failure::Config(_) | Failure::Usage(_) => Failure::Usage(text),
        Failure::Unreachable(_) => Failure::Unreachable(text),
        Failure::Refused(_)
        | Failure::NotFound(_)
        | Failure::Failed(_)
        | Failure::Interrupted
        | Failure::Closed => Failure::Failed(text),
    }
}
