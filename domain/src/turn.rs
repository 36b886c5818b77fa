//! A turn: one user message to its end. A runner advances it: it asks [`next`](Turn::next) what comes now, does that,
//! commits against the version that it loaded, and asks again.
//!
//! A turn names the runner that owns it and an epoch that grows with each owner; a runner's commands carry the epoch,
//! and an older one is refused. Answers are appended whether the turn is paused or not, so that none is overlooked.

mod decide;
mod next;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::aggregate::{aggregate, event_kinds};
use crate::ids::{CallId, MessageId, PlanId, RunnerId, UserId};
use crate::policy::Mode;

pub use decide::{Outcome, TurnCommand, TurnRefusal};
pub use next::{MAX_ATTEMPTS, Next};
pub use spec::{Budget, StepCall, StepFailure, StepResult, TurnSpec, Usage};

/// Where the current step stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepPhase {
    /// The model is asked, or was when its runner died.
    Calling,
    /// The model has answered and asked for these calls.
    Answered(Vec<CallId>),
    /// The attempt failed.
    Failed(StepFailure),
}

/// The current step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// From 1.
    pub number: u32,
    /// From 1.
    pub attempt: u32,
    /// Where it stands.
    pub phase: StepPhase,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It was never requested.
    #[default]
    Absent,
    /// Another turn of the conversation runs.
    Queued,
    /// A runner may advance it.
    Running,
    /// It waits, and nothing is held open meanwhile.
    Paused,
    /// It answered.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Phase {
    /// Whether it has ended.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Absent | Self::Queued | Self::Running | Self::Paused => false,
        }
    }
}

/// A turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What it is; none before it is requested.
    pub spec: Option<TurnSpec>,
    /// Where it stands.
    pub phase: Phase,
    /// Whether it acts or plans.
    #[serde(default)]
    pub mode: Mode,
    /// The plan that it follows, once one was approved.
    #[serde(default)]
    pub plan: Option<PlanId>,
    /// The runner that owns it; none while it waits.
    pub owner: Option<RunnerId>,
    /// Grows with each owner; 0 before the first.
    pub epoch: u64,
    /// When it began.
    pub started_at: Option<DateTime<Utc>>,
    /// The current step.
    pub step: Option<Step>,
    /// What each step gave.
    pub results: BTreeMap<u32, StepResult>,
    /// Tokens so far.
    pub usage: Usage,
    /// Tool calls so far.
    pub tool_calls: u32,
    /// Pauses so far.
    pub pauses: u32,
    /// What was answered, by the cause of each answer.
    pub answers: BTreeSet<Uuid>,
    /// Who wants it cancelled, and why.
    pub cancel: Option<(UserId, String)>,
}

/// What has happened to a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnEvent {
    /// A person's message asks for it.
    Requested {
        /// What it is.
        spec: TurnSpec,
        /// Whether it waits for another turn.
        queued: bool,
    },
    /// A runner may advance it.
    Started {
        /// When.
        at: DateTime<Utc>,
    },
    /// A runner owns it, nobody did.
    Claimed {
        /// Who.
        runner_id: RunnerId,
        /// From 1.
        epoch: u64,
    },
    /// Another owner, after the one before was gone.
    TakenOver {
        /// Who.
        runner_id: RunnerId,
        /// From 2.
        epoch: u64,
    },
    /// The model is asked.
    StepStarted {
        /// From 1.
        step: u32,
        /// From 1; a higher one withdraws what the one before has shown.
        attempt: u32,
    },
    /// The model has answered.
    StepCompleted {
        /// From 1.
        step: u32,
        /// From 1.
        attempt: u32,
        /// What it gave.
        result: StepResult,
    },
    /// The model has not answered whole.
    StepFailed {
        /// From 1.
        step: u32,
        /// From 1.
        attempt: u32,
        /// Why.
        failure: StepFailure,
    },
    /// It waits for people.
    Paused {
        /// From 1.
        pause: u32,
        /// The calls that it waits for.
        waiting: Vec<CallId>,
    },
    /// Something that it waits for, or will, was answered while it runs.
    Answered {
        /// The answer's fact.
        cause: Uuid,
    },
    /// It goes on.
    Resumed {
        /// The answer's fact.
        cause: Uuid,
    },
    /// It acts from now on, or plans.
    ModeSwitched {
        /// Which.
        mode: Mode,
        /// The plan that was answered.
        plan_id: PlanId,
        /// Who answered.
        by: UserId,
    },
    /// Somebody wants it to end.
    CancelRequested {
        /// Who.
        by: UserId,
        /// Why.
        reason: String,
    },
    /// It answered.
    Completed {
        /// The message that holds the answer.
        message_id: MessageId,
        /// Tokens.
        usage: Usage,
    },
    /// It failed.
    Failed {
        /// The message that holds what there is.
        message_id: MessageId,
        /// Stable, such as `budget_steps`.
        code: String,
        /// What was wrong and what to do.
        message: String,
        /// Tokens.
        usage: Usage,
    },
    /// It was cancelled.
    Cancelled {
        /// The message that holds what there is.
        message_id: MessageId,
        /// Who wanted it.
        by: UserId,
        /// Why.
        reason: String,
        /// Tokens.
        usage: Usage,
    },
}

aggregate!(Turn as "turn": TurnCommand => TurnEvent or TurnRefusal);
event_kinds!(TurnEvent {
    Requested => "turn.requested",
    Started => "turn.started",
    Claimed => "turn.claimed",
    TakenOver => "turn.taken_over",
    StepStarted => "turn.step_started",
    StepCompleted => "turn.step_completed",
    StepFailed => "turn.step_failed",
    Paused => "turn.paused",
    Answered => "turn.answered",
    Resumed => "turn.resumed",
    ModeSwitched => "turn.mode_switched",
    CancelRequested => "turn.cancel_requested",
    Completed => "turn.completed",
    Failed => "turn.failed",
    Cancelled => "turn.cancelled",
});

impl Turn {
    fn evolve(&mut self, event: TurnEvent) {
        match event {
            TurnEvent::Requested { spec, .. } => {
                self.mode = spec.mode;
                self.spec = Some(spec);
                self.phase = Phase::Queued;
            }
            TurnEvent::Started { at } => {
                self.phase = Phase::Running;
                self.started_at = Some(at);
            }
            TurnEvent::Claimed { runner_id, epoch } | TurnEvent::TakenOver { runner_id, epoch } => {
                (self.owner, self.epoch) = (Some(runner_id), epoch);
            }
            TurnEvent::StepStarted { step, attempt } => {
                self.step = Some(Step { number: step, attempt, phase: StepPhase::Calling });
            }
            TurnEvent::StepCompleted { step, attempt, result } => {
                self.usage.add(result.usage);
                self.tool_calls += result.calls.len() as u32;
                let calls = result.calls.iter().map(|call| call.call_id).collect();
                self.results.insert(step, result);
                self.step = Some(Step { number: step, attempt, phase: StepPhase::Answered(calls) });
            }
            TurnEvent::StepFailed { step, attempt, failure } => {
                self.step = Some(Step { number: step, attempt, phase: StepPhase::Failed(failure) });
            }
            TurnEvent::Paused { pause, .. } => {
                (self.phase, self.pauses, self.owner) = (Phase::Paused, pause, None);
            }
            TurnEvent::Answered { cause } => {
                self.answers.insert(cause);
            }
            TurnEvent::Resumed { cause } => {
                self.answers.insert(cause);
                self.phase = Phase::Running;
            }
            TurnEvent::ModeSwitched { mode, plan_id, .. } => (self.mode, self.plan) = (mode, Some(plan_id)),
            TurnEvent::CancelRequested { by, reason } => self.cancel = Some((by, reason)),
            TurnEvent::Completed { .. } => self.phase = Phase::Completed,
            TurnEvent::Failed { .. } => self.phase = Phase::Failed,
            TurnEvent::Cancelled { .. } => self.phase = Phase::Cancelled,
        }
    }

    /// The calls of the current step.
    pub fn open_calls(&self) -> &[CallId] {
        match self.step.as_ref().map(|step| &step.phase) {
            Some(StepPhase::Answered(calls)) => calls,
            Some(StepPhase::Calling | StepPhase::Failed(_)) | None => &[],
        }
    }
}

#[cfg(test)]
mod tests;
