//! A runner moves a turn on by one commit. Every command carries the runner's epoch and is refused once it is over.

use chrono::Utc;
use oxagen_domain::capability::Surface;
use oxagen_domain::tool_call::{ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Next, Outcome, StepCall, StepFailure, StepResult, Turn, TurnCommand};
use oxagen_domain::{CallId, RunnerId, TurnId};

use crate::calls::{AskedCall, Asker, Bodies, PlannedCall};
use crate::{CommandError, Commands, Context, Known};

/// The turn that a runner advances, and in which capacity.
#[derive(Clone, Debug)]
pub struct AdvanceTurn {
    /// On whose behalf.
    pub context: Context,
    /// The turn.
    pub turn: TurnId,
    /// The runner.
    pub runner: RunnerId,
    /// Its epoch on this turn.
    pub epoch: u64,
    /// What it knows of the turn and its calls, from its own commits. Whatever others change makes a commit meet a
    /// conflict, and then all of it is forgotten together.
    pub known: Known,
}

/// What the model gave in a step.
#[derive(Clone, Debug)]
pub struct StepAnswer {
    /// Text, reasoning and the rest; its `calls` are filled in from below.
    pub result: StepResult,
    /// The calls that it asks for, in order, each with the provider's own identifier.
    pub calls: Vec<(AskedCall, String)>,
}

/// A turn that a runner has made its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The runner's epoch.
    pub epoch: u64,
    /// The turn's version, if its first step began with this commit.
    pub begun: Option<u64>,
}

impl Commands {
    /// Makes this runner the turn's owner, and begins the first step of a turn that has none. The caller has made sure
    /// that an owner before is gone.
    ///
    /// # Errors
    /// `NotFound`, `TurnEnded`, `Unavailable`.
    pub async fn claim_turn(
        &self,
        context: &Context,
        turn: TurnId,
        runner_id: RunnerId,
        known: &Known,
    ) -> Result<Claim, CommandError> {
        let (id, mut rounds) = (turn.to_string(), self.rounds());
        loop {
            let mut unit = self.unit(context, &rounds).knowing(known);
            unit.decide::<Turn>(&id, TurnCommand::Claim { runner_id }).await?;
            let claimed = unit.load::<Turn>(&id).await?.state;
            let mut claim = Claim { epoch: claimed.epoch, begun: None };
            if claimed.next(&[], Utc::now()) == (Next::CallModel { step: 1, attempt: 1 }) {
                let begin = TurnCommand::StartStep { epoch: claim.epoch, step: 1, attempt: 1 };
                unit.decide::<Turn>(&id, begin).await?;
                claim.begun = Some(unit.load::<Turn>(&id).await?.version);
            }
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(claim);
            }
        }
    }

    /// Records that the model is asked, and gives the turn's version, which the step's live frames follow.
    ///
    /// # Errors
    /// `Conflict` with `fenced` set when the epoch is over, `TurnEnded`, `Unavailable`.
    pub async fn start_step(&self, to: &AdvanceTurn, step: u32, attempt: u32) -> Result<u64, CommandError> {
        self.tell(to, || TurnCommand::StartStep { epoch: to.epoch, step, attempt }).await
    }

    /// Records that the model has not answered whole.
    ///
    /// # Errors
    /// As [`Commands::start_step`].
    pub async fn fail_step(&self, to: &AdvanceTurn, failure: StepFailure) -> Result<(), CommandError> {
        self.tell(to, || TurnCommand::FailStep { epoch: to.epoch, failure: failure.clone() }).await.map(drop)
    }

    /// Lets the turn wait, if nothing happened to it since it was loaded at `version`; `false` asks to look again.
    ///
    /// # Errors
    /// As [`Commands::start_step`].
    pub async fn pause_turn(
        &self,
        to: &AdvanceTurn,
        version: u64,
        waiting: Vec<CallId>,
    ) -> Result<bool, CommandError> {
        let mut rounds = self.rounds();
        let mut unit = self.unit(&to.context, &rounds).knowing(&to.known);
        let id = to.turn.to_string();
        if unit.load::<Turn>(&id).await?.version != version {
            return Ok(false);
        }
        unit.decide::<Turn>(&id, TurnCommand::Pause { epoch: to.epoch, waiting }).await?;
        Ok(unit.commit(&mut rounds).await?.is_some())
    }

    /// Records the model's answer together with the ledger's first entries of all its calls: what may start has
    /// started with this commit, what a person is asked about is held. An answer without calls ends the turn with it.
    ///
    /// # Errors
    /// As [`Commands::start_step`].
    pub async fn complete_step(
        &self,
        to: &AdvanceTurn,
        answer: StepAnswer,
    ) -> Result<Vec<PlannedCall>, CommandError> {
        let mut rounds = self.rounds();
        let scope = to.context.scope();
        loop {
            let mut unit = self.unit(&to.context, &rounds).knowing(&to.known);
            let turn = unit.load::<Turn>(&to.turn.to_string()).await?.state;
            let Some(spec) = turn.spec else { return Err(CommandError::unknown("turn")) };
            let mut result = answer.result.clone();
            result.calls = answer.calls.iter().map(|(call, provider)| step_call(call, provider)).collect();
            let command = TurnCommand::CompleteStep { epoch: to.epoch, result };
            unit.decide::<Turn>(&to.turn.to_string(), command).await?;
            let asker = Asker {
                user: spec.requested_by,
                role: spec.role,
                limits: spec.limits,
                mode: turn.mode,
                surface: Surface::Agent,
                at: Utc::now(),
            };
            let (mut bodies, mut planned) = (Bodies::new(), Vec::new());
            if !answer.calls.is_empty() {
                let policy = unit.workspace_policy().await?;
                for (call, _) in &answer.calls {
                    let call = unit.ask(call.clone(), &asker, &policy.state, &mut bodies).await?;
                    if call.cleared {
                        let start =
                            ToolCallCommand::Start { runner_id: to.runner, may_rerun: false, at: asker.at };
                        unit.decide::<ToolCall>(&call.spec.call_id.to_string(), start).await?;
                    }
                    planned.push(call);
                }
            }
            let after = unit.load::<Turn>(&to.turn.to_string()).await?.state;
            if planned.is_empty() && after.next(&[], Utc::now()) == Next::Complete {
                unit.end_turn(to, Outcome::Completed).await?;
            }
            self.store(scope.tenant, &bodies).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(planned);
            }
        }
    }

    /// Gives the turn's version after the command.
    async fn tell(&self, to: &AdvanceTurn, command: impl Fn() -> TurnCommand) -> Result<u64, CommandError> {
        let (id, mut rounds) = (to.turn.to_string(), self.rounds());
        loop {
            let mut unit = self.unit(&to.context, &rounds).knowing(&to.known);
            unit.decide::<Turn>(&id, command()).await?;
            let version = unit.load::<Turn>(&id).await?.version;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(version);
            }
        }
    }
}

fn step_call(call: &AskedCall, provider_call_id: &str) -> StepCall {
    let name = oxagen_domain::capability::catalog::find(&call.name);
    StepCall {
        call_id: call.call_id,
        name: name.map_or_else(|| call.name.clone(), oxagen_domain::capability::Capability::wire_name),
        provider_call_id: provider_call_id.to_owned(),
    }
}
