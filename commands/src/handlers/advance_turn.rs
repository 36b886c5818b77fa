//! A runner moves a turn on by one commit. Every command carries the runner's epoch and is refused once it is over.

use chrono::Utc;
use oxagen_domain::capability::Surface;
use oxagen_domain::tool_call::{ToolCall, ToolCallCommand};
use oxagen_domain::turn::{StepCall, StepFailure, StepResult, Turn, TurnCommand};
use oxagen_domain::{CallId, RunnerId, TurnId};

use crate::calls::{AskedCall, Asker, Bodies, PlannedCall};
use crate::{CommandError, Commands, Context};

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
}

/// What the model gave in a step.
#[derive(Clone, Debug)]
pub struct StepAnswer {
    /// Text, reasoning and the rest; its `calls` are filled in from below.
    pub result: StepResult,
    /// The calls that it asks for, in order, each with the provider's own identifier.
    pub calls: Vec<(AskedCall, String)>,
}

impl Commands {
    /// Makes this runner the turn's owner and gives its epoch. The caller has made sure that an owner before is gone.
    ///
    /// # Errors
    /// `NotFound`, `TurnEnded`, `Unavailable`.
    pub async fn claim_turn(
        &self,
        context: &Context,
        turn: TurnId,
        runner_id: RunnerId,
    ) -> Result<u64, CommandError> {
        let (id, mut rounds) = (turn.to_string(), self.rounds());
        loop {
            let mut unit = self.unit(context, &rounds);
            unit.decide::<Turn>(&id, TurnCommand::Claim { runner_id }).await?;
            let epoch = unit.load::<Turn>(&id).await?.state.epoch;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(epoch);
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
        let mut unit = self.unit(&to.context, &rounds);
        let id = to.turn.to_string();
        if unit.load::<Turn>(&id).await?.version != version {
            return Ok(false);
        }
        unit.decide::<Turn>(&id, TurnCommand::Pause { epoch: to.epoch, waiting }).await?;
        Ok(unit.commit(&mut rounds).await?.is_some())
    }

    /// Records the model's answer together with the ledger's first entries of all its calls: what may start has
    /// started with this commit, what a person is asked about is held.
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
            let mut unit = self.unit(&to.context, &rounds);
            let turn = unit.load::<Turn>(&to.turn.to_string()).await?.state;
            let Some(spec) = turn.spec else { return Err(CommandError::unknown("turn")) };
            let mut result = answer.result.clone();
            result.calls = answer.calls.iter().map(|(call, provider)| step_call(call, provider)).collect();
            let command = TurnCommand::CompleteStep { epoch: to.epoch, result };
            unit.decide::<Turn>(&to.turn.to_string(), command).await?;
            let asker = Asker {
                user: spec.requested_by,
                role: spec.role,
                mode: turn.mode,
                surface: Surface::Agent,
                at: Utc::now(),
            };
            let (mut bodies, mut planned) = (Bodies::new(), Vec::new());
            if !answer.calls.is_empty() {
                let policy = unit.workspace_policy().await?;
                for (call, _) in &answer.calls {
                    let call = unit.ask(call.clone(), &asker, &policy, &mut bodies).await?;
                    if call.cleared {
                        let start =
                            ToolCallCommand::Start { runner_id: to.runner, may_rerun: false, at: asker.at };
                        unit.decide::<ToolCall>(&call.spec.call_id.to_string(), start).await?;
                    }
                    planned.push(call);
                }
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
            let mut unit = self.unit(&to.context, &rounds);
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
