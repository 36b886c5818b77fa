//! What a turn can be told, and what then happens.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{Phase, StepFailure, StepPhase, StepResult, Turn, TurnEvent, TurnSpec};
use crate::ids::{CallId, PlanId, RunnerId, UserId};
use crate::policy::Mode;

/// How a turn ends.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The agent answered.
    Completed,
    /// It cannot go on.
    Failed {
        /// Stable.
        code: String,
        /// What was wrong and what to do.
        message: String,
    },
    /// Somebody wanted it to end.
    Cancelled,
}

/// What a turn can be told. A runner's commands carry its epoch.
#[derive(Clone, Debug)]
pub enum TurnCommand {
    /// Come into being.
    Request {
        /// What it is.
        spec: TurnSpec,
        /// Whether it waits for another turn.
        queued: bool,
        /// When.
        at: DateTime<Utc>,
    },
    /// The turn before it has ended.
    Begin {
        /// When.
        at: DateTime<Utc>,
    },
    /// This runner owns it from now on.
    Claim {
        /// Who.
        runner_id: RunnerId,
    },
    /// The model is asked.
    StartStep {
        /// The runner's epoch.
        epoch: u64,
        /// From 1.
        step: u32,
        /// From 1.
        attempt: u32,
    },
    /// The model has answered.
    CompleteStep {
        /// The runner's epoch.
        epoch: u64,
        /// What it gave.
        result: StepResult,
    },
    /// The model has not answered whole.
    FailStep {
        /// The runner's epoch.
        epoch: u64,
        /// Why.
        failure: StepFailure,
    },
    /// Wait for people.
    Pause {
        /// The runner's epoch.
        epoch: u64,
        /// The calls that it waits for.
        waiting: Vec<CallId>,
    },
    /// Something that it waits for was answered.
    Answer {
        /// The answer's fact; a repeat changes nothing.
        cause: Uuid,
    },
    /// A person has answered its plan: act, or plan again.
    SwitchMode {
        /// Which.
        mode: Mode,
        /// The plan.
        plan_id: PlanId,
        /// Who answered.
        by: UserId,
    },
    /// Somebody wants it to end.
    RequestCancel {
        /// Who.
        by: UserId,
        /// Why.
        reason: String,
    },
    /// It ends.
    Finish {
        /// The runner's epoch.
        epoch: u64,
        /// How.
        outcome: Outcome,
    },
}

/// Why a turn said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefusal {
    /// It was never requested.
    #[error("there is no such turn")]
    Unknown,
    /// It has ended.
    #[error("this turn has ended")]
    Ended,
    /// Another runner owns it by now.
    #[error("epoch {epoch} is over, this turn is at {current}")]
    Fenced {
        /// The runner's.
        epoch: u64,
        /// The turn's.
        current: u64,
    },
    /// Not in this phase.
    #[error("this turn does not stand where that could happen")]
    OutOfOrder,
}

impl Turn {
    pub(super) fn decide(&self, command: TurnCommand) -> Result<Vec<TurnEvent>, TurnRefusal> {
        match command {
            TurnCommand::Request { spec, queued, at } => Ok(match (&self.spec, queued) {
                (Some(_), _) => vec![],
                (None, true) => vec![TurnEvent::Requested { spec, queued }],
                (None, false) => vec![TurnEvent::Requested { spec, queued }, TurnEvent::Started { at }],
            }),
            _ if self.spec.is_none() => Err(TurnRefusal::Unknown),
            TurnCommand::Begin { at } => {
                Ok(if self.phase == Phase::Queued { vec![TurnEvent::Started { at }] } else { vec![] })
            }
            TurnCommand::Answer { cause } => Ok(self.answer(cause)),
            _ if self.phase.is_ended() => Err(TurnRefusal::Ended),
            TurnCommand::SwitchMode { mode, plan_id, by } => {
                let same = self.mode == mode && self.plan == Some(plan_id);
                Ok(if same { vec![] } else { vec![TurnEvent::ModeSwitched { mode, plan_id, by }] })
            }
            TurnCommand::RequestCancel { by, reason } => Ok(if self.cancel.is_some() {
                vec![]
            } else {
                vec![TurnEvent::CancelRequested { by, reason }]
            }),
            TurnCommand::Claim { runner_id } => Ok(match self.owner {
                None => vec![TurnEvent::Claimed { runner_id, epoch: self.epoch + 1 }],
                Some(owner) if owner == runner_id => vec![],
                Some(_) => vec![TurnEvent::TakenOver { runner_id, epoch: self.epoch + 1 }],
            }),
            TurnCommand::StartStep { epoch, step, attempt } => {
                self.check(epoch)?;
                Ok(vec![TurnEvent::StepStarted { step, attempt }])
            }
            TurnCommand::CompleteStep { epoch, result } => {
                let (step, attempt) = self.calling(epoch)?;
                Ok(vec![TurnEvent::StepCompleted { step, attempt, result }])
            }
            TurnCommand::FailStep { epoch, failure } => {
                let (step, attempt) = self.calling(epoch)?;
                Ok(vec![TurnEvent::StepFailed { step, attempt, failure }])
            }
            TurnCommand::Pause { epoch, waiting } => {
                self.check(epoch)?;
                Ok(match self.phase {
                    Phase::Running => vec![TurnEvent::Paused { pause: self.pauses + 1, waiting }],
                    Phase::Absent | Phase::Queued | Phase::Paused => vec![],
                    Phase::Completed | Phase::Failed | Phase::Cancelled => return Err(TurnRefusal::Ended),
                })
            }
            TurnCommand::Finish { epoch, outcome } => {
                self.check(epoch)?;
                self.finish(outcome)
            }
        }
    }

    fn answer(&self, cause: Uuid) -> Vec<TurnEvent> {
        match self.phase {
            _ if self.answers.contains(&cause) || self.phase.is_ended() => vec![],
            Phase::Paused => vec![TurnEvent::Resumed { cause }],
            Phase::Absent | Phase::Queued | Phase::Running => vec![TurnEvent::Answered { cause }],
            Phase::Completed | Phase::Failed | Phase::Cancelled => vec![],
        }
    }

    fn check(&self, epoch: u64) -> Result<(), TurnRefusal> {
        if epoch == self.epoch { Ok(()) } else { Err(TurnRefusal::Fenced { epoch, current: self.epoch }) }
    }

    fn calling(&self, epoch: u64) -> Result<(u32, u32), TurnRefusal> {
        self.check(epoch)?;
        match &self.step {
            Some(step) if step.phase == StepPhase::Calling => Ok((step.number, step.attempt)),
            Some(_) | None => Err(TurnRefusal::OutOfOrder),
        }
    }

    fn finish(&self, outcome: Outcome) -> Result<Vec<TurnEvent>, TurnRefusal> {
        let message_id = self.spec.as_ref().ok_or(TurnRefusal::Unknown)?.assistant_message_id;
        let usage = self.usage;
        Ok(vec![match outcome {
            Outcome::Completed => TurnEvent::Completed { message_id, usage },
            Outcome::Failed { code, message } => TurnEvent::Failed { message_id, code, message, usage },
            Outcome::Cancelled => {
                let (by, reason) = self.cancel.clone().ok_or(TurnRefusal::OutOfOrder)?;
                TurnEvent::Cancelled { message_id, by, reason, usage }
            }
        }])
    }
}
