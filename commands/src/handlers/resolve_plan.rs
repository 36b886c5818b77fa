//! A person answers a plan. The plan and what its turn may do from now on change in one commit.

use chrono::Utc;
use oxagen_domain::plan::{
    Plan, PlanAnswer, PlanCommand, PlanEvent, PlanRefusal, PlanSpec, PlanStatus, PlanStep,
};
use oxagen_domain::policy::Mode;
use oxagen_domain::turn::{Turn, TurnCommand};
use oxagen_domain::{PlanId, Right, UserId};
use serde::Serialize;

use crate::unit::Unit;
use crate::{Caller, CommandError, Commands};

/// What a person says to a plan.
#[derive(Clone, Debug)]
pub enum PlanDecision {
    /// Do it.
    Approve,
    /// Do not.
    Reject,
    /// Do this instead, once somebody approves it.
    Amend(Vec<PlanStep>),
}

/// An answer to a plan.
#[derive(Clone, Debug)]
pub struct ResolvePlan {
    /// What.
    pub decision: PlanDecision,
    /// The version that the person saw; none for the one that counts.
    pub version: Option<u32>,
    /// In their words: at most 4,000 characters.
    pub note: Option<String>,
}

/// How a plan stands after an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReceipt {
    /// The plan.
    pub plan_id: PlanId,
    /// The version that counts.
    pub version: u32,
    /// How it stands.
    pub status: PlanStatus,
    /// Who answered.
    pub resolved_by: UserId,
    /// How many people have approved this version.
    pub given: u32,
    /// How many are needed.
    pub needed: u32,
}

impl Commands {
    /// Answers a plan. Approved, its turn acts and its calls are granted; amended after that, the turn plans again and
    /// nothing is granted until the new version is approved.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` when another version counts, `PlanClosed`, `TurnEnded`, `InvalidInput`, `Forbidden`,
    /// `Unavailable`.
    pub async fn resolve_plan(
        &self,
        caller: &Caller,
        plan_id: PlanId,
        answer: ResolvePlan,
    ) -> Result<PlanReceipt, CommandError> {
        let (id, mut rounds) = (plan_id.to_string(), self.rounds());
        loop {
            let bare = caller.context(None, None);
            let mut look = self.unit(&bare, &rounds);
            let found = look.owned::<Plan>(&id, "plan").await?.state;
            caller.must(Right::Decide)?;
            let Some(spec) = found.spec else { return Err(CommandError::unknown("plan")) };
            let context = caller.context(Some(spec.conversation_id), Some(spec.turn_id));
            let mut unit = self.unit(&context, &rounds);
            let expired = decide(&mut unit, caller, &spec, &answer).await?;
            let plan = unit.load::<Plan>(&id).await?.state;
            if unit.commit(&mut rounds).await?.is_some() {
                if expired {
                    return Err(PlanRefusal::Closed(PlanStatus::Expired).into());
                }
                let (version, status, given) = (plan.version, plan.status, plan.given());
                let (resolved_by, needed) = (caller.user, spec.terms.needed);
                return Ok(PlanReceipt { plan_id, version, status, resolved_by, given, needed });
            }
        }
    }
}

/// Whether the answer came after the deadline, and has closed the plan instead.
async fn decide(
    unit: &mut Unit<'_>,
    caller: &Caller,
    spec: &PlanSpec,
    answer: &ResolvePlan,
) -> Result<bool, CommandError> {
    let (id, version, role) = (spec.plan_id.to_string(), answer.version, caller.role);
    let said = |approve| {
        let (by, at, note) = (caller.user, Utc::now(), answer.note.clone());
        PlanAnswer { approve, by, at, note }
    };
    let (command, mode) = match &answer.decision {
        PlanDecision::Approve => (PlanCommand::Answer { version, answer: said(true), role }, Some(Mode::Act)),
        PlanDecision::Reject => (PlanCommand::Answer { version, answer: said(false), role }, None),
        PlanDecision::Amend(steps) => {
            let was_approved = unit.load::<Plan>(&id).await?.state.status == PlanStatus::Approved;
            let expires_at = unit.workspace_policy().await?.state.document.deadline(Utc::now());
            let (steps, answer) = (steps.clone(), said(false));
            (
                PlanCommand::Amend { version, steps, expires_at, answer, role },
                was_approved.then_some(Mode::Plan),
            )
        }
    };
    let happened = unit.decide::<Plan>(&id, command).await?;
    let switches =
        |event: &PlanEvent| matches!(event, PlanEvent::Approved { .. } | PlanEvent::Amended { .. });
    if let Some(mode) = mode.filter(|_| happened.iter().any(switches)) {
        let switch = TurnCommand::SwitchMode { mode, plan_id: spec.plan_id, by: caller.user };
        unit.decide::<Turn>(&spec.turn_id.to_string(), switch).await?;
    }
    Ok(happened.iter().any(|event| matches!(event, PlanEvent::Expired { .. })))
}
