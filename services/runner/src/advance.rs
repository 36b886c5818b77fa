//! The turn loop: load, ask what comes next, do it, commit, ask again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use fail::fail_point;
use futures::future::try_join_all;
use oxagen_commands::{AdvanceTurn, CallStart, Code, CommandError, PlannedCall, StartedCall};
use oxagen_domain::CallId;
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::turn::{Next, Outcome, StepPhase, Turn, TurnSpec};
use oxagen_journal::Loaded;
use tokio_util::sync::CancellationToken;

use crate::Shared;
use crate::calls::{Running, Where};
use crate::history::History;
use crate::live::Frames;
use crate::step::Asked;

/// Calls that were started by the commit of their step and wait only for being run.
pub(crate) type Fresh = HashMap<CallId, PlannedCall>;

impl Shared {
    /// Advances a turn that this runner owns until it rests. `begun` is the turn's version with the beginning of its
    /// first step, if that was committed with the claim.
    pub(crate) async fn advance(
        self: &Arc<Self>,
        to: &AdvanceTurn,
        spec: &TurnSpec,
        mut begun: Option<u64>,
        stop: &CancellationToken,
    ) -> Result<(), CommandError> {
        let commands = &self.options.commands;
        let (mut history, mut fresh) = (History::default(), Fresh::new());
        loop {
            if stop.is_cancelled() {
                to.known.forget();
            }
            let turn = self.turn(to).await?;
            if turn.state.epoch != to.epoch || turn.state.owner != Some(self.options.id) {
                return Ok(());
            }
            let calls = self.calls(to, &turn.state).await?;
            let done = match turn.state.next(&calls, Utc::now()) {
                Next::Rest => return Ok(()),
                Next::CallModel { step, attempt } => {
                    let begun = begun.take();
                    let attempt = if begun.is_some() { 1 } else { attempt };
                    wait_before(attempt, &turn.state, stop).await;
                    history.take(to.turn, &turn.state, &calls);
                    let asked = Asked { spec, step, attempt, begun };
                    self.ask_model(to, asked, &mut history, stop).await.map(|planned| {
                        fresh = planned.into_iter().map(|call| (call.spec.call_id, call)).collect();
                    })
                }
                Next::RunCalls(ids) => {
                    let running = ids.into_iter().map(|id| {
                        self.run_in_turn(to, (id, fresh.remove(&id)), (spec, &turn.state, turn.version), stop)
                    });
                    try_join_all(running).await.map(drop)
                }
                Next::Pause(waiting) => match commands.pause_turn(to, turn.version, waiting).await {
                    Ok(true) => return Ok(()),
                    Ok(false) => Ok(()),
                    Err(error) => Err(error),
                },
                Next::Complete => return ended(commands.finish_turn(to, || Outcome::Completed).await),
                Next::Fail { code, message } => {
                    let outcome = || Outcome::Failed { code: code.clone(), message: message.clone() };
                    return ended(commands.finish_turn(to, outcome).await);
                }
                Next::Cancel => return ended(commands.finish_turn(to, || Outcome::Cancelled).await),
            };
            match done {
                // What was cancelled or taken over meanwhile is seen when the turn is loaded again.
                Err(error) if error.fenced || error.code == Code::TurnEnded => to.known.forget(),
                done => done?,
            }
        }
    }

    /// The turn as this runner left it, or as it is stored.
    async fn turn(&self, to: &AdvanceTurn) -> Result<Loaded<Turn>, CommandError> {
        let id = to.turn.to_string();
        if let Some(known) = to.known.recall(&id) {
            return Ok(known);
        }
        // What is known of the calls would be older than the turn, and one that was answered since would be waited for.
        to.known.forget();
        let loaded = self.options.commands.journal().load(&id).await?;
        to.known.learn(&id, &loaded);
        Ok(loaded)
    }

    async fn calls(&self, to: &AdvanceTurn, turn: &Turn) -> Result<Vec<(CallId, ToolCall)>, CommandError> {
        let load = |call: &CallId| {
            let call = *call;
            async move {
                let id = call.to_string();
                if let Some(known) = to.known.recall::<ToolCall>(&id) {
                    return Ok((call, known.state));
                }
                let loaded = self.options.commands.journal().load::<ToolCall>(&id).await?;
                to.known.learn(&id, &loaded);
                Ok::<_, CommandError>((call, loaded.state))
            }
        };
        try_join_all(turn.open_calls().iter().map(load)).await
    }

    async fn run_in_turn(
        self: &Arc<Self>,
        to: &AdvanceTurn,
        (call, fresh): (CallId, Option<PlannedCall>),
        (spec, turn, version): (&TurnSpec, &Turn, u64),
        stop: &CancellationToken,
    ) -> Result<(), CommandError> {
        let own = self.stops.register_under(call.0, stop);
        let started = match fresh {
            Some(planned) => {
                let input =
                    self.options.commands.whole(to.context.scope().tenant, &planned.spec.input).await?;
                Some(StartedCall { spec: planned.spec, input, attempt: 1 })
            }
            None => {
                let (context, known, turn) = (to.context.clone(), to.known.clone(), Some(to.clone()));
                let start = CallStart { call, runner: self.options.id, turn, context, known };
                fail_point!("runner.start", |_| std::process::abort());
                match self.options.commands.start_call(&start).await {
                    // It ended while it was about to start.
                    Err(error) if error.code == Code::CallEnded => None,
                    started => started?,
                }
            }
        };
        let Some(started) = started else { return Ok(()) };
        let step = turn.step.as_ref().map_or(1, |step| step.number);
        let frames = Frames {
            live: self.live.clone(),
            scope: to.context.scope(),
            conversation: spec.conversation_id,
            turn: to.turn,
            version,
            step,
            attempt: started.attempt,
        };
        let place = Where { context: to.context.clone(), known: to.known.clone(), frames: Some(frames) };
        let ran = self.run_call(Running { started, place, stop: own.token.clone() }).await;
        if own.token.is_cancelled() {
            // Somebody else has ended it: what is known of it is old.
            to.known.forget();
        }
        ran
    }
}

/// Somebody else may have ended it first, which is an end as well.
fn ended(finished: Result<(), CommandError>) -> Result<(), CommandError> {
    match finished {
        Err(error) if error.fenced || error.code == Code::TurnEnded => Ok(()),
        finished => finished,
    }
}

/// A failed attempt is made again after a while: half a second, then doubling.
async fn wait_before(attempt: u32, turn: &Turn, stop: &CancellationToken) {
    let failed = matches!(turn.step.as_ref().map(|step| &step.phase), Some(StepPhase::Failed(_)));
    if failed && attempt > 1 {
        let wait = Duration::from_millis(500 * (1 << (attempt - 2).min(6)));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => {}
        }
    }
}
