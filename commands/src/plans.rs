//! Calls and the plan that their turn follows: what it grants, and how its steps stand.

use oxagen_domain::plan::{Plan, PlanCommand, StepStatus};
use oxagen_domain::policy::{Mode, PLAN_CREATE, PlanStanding};
use oxagen_domain::tool_call::{CallSpec, PlannedStep, Standing, ToolCall};
use oxagen_domain::turn::Turn;
use oxagen_domain::{CallId, Digest, TurnId};

use crate::error::CommandError;
use crate::unit::Unit;

impl Unit<'_> {
    /// How a call that is asked for stands to the plan of its turn, and the step that grants it.
    pub(crate) async fn plan_standing(
        &mut self,
        turn: Option<TurnId>,
        capability: &str,
        input_digest: &Digest,
    ) -> Result<(PlanStanding, Option<PlannedStep>), CommandError> {
        let nothing = (PlanStanding::NoPlan, None);
        let Some(turn) = turn else { return Ok(nothing) };
        let turn = self.load::<Turn>(&turn.to_string()).await?.state;
        // In plan mode nothing is granted, whatever was approved before.
        let Some(plan_id) = turn.plan.filter(|_| turn.mode == Mode::Act && capability != PLAN_CREATE) else {
            return Ok(nothing);
        };
        let plan = self.load::<Plan>(&plan_id.to_string()).await?.state;
        Ok(match plan.grants(capability, input_digest).map(str::to_owned) {
            Some(step) => {
                (PlanStanding::Granted { step: step.clone() }, Some(PlannedStep { plan_id, step_id: step }))
            }
            None => (PlanStanding::Drift, None),
        })
    }

    /// How a call that is about to start stands to it.
    pub(crate) async fn plan_standing_of(
        &mut self,
        spec: &CallSpec,
        turn: Option<&Turn>,
    ) -> Result<PlanStanding, CommandError> {
        let Some(step) = &spec.plan else {
            let follows = turn.is_some_and(|turn| turn.plan.is_some()) && spec.capability != PLAN_CREATE;
            return Ok(if follows { PlanStanding::Drift } else { PlanStanding::NoPlan });
        };
        let plan = self.load::<Plan>(&step.plan_id.to_string()).await?;
        self.guard::<Plan>(&step.plan_id.to_string(), plan.version);
        let granted = plan.state.is_carried_out_by(&step.step_id, spec.call_id);
        Ok(if granted { PlanStanding::Granted { step: step.step_id.clone() } } else { PlanStanding::Drift })
    }

    /// The call takes the step that grants it: no other call gets it.
    pub(crate) async fn take_plan_step(&mut self, spec: &CallSpec) -> Result<(), CommandError> {
        let Some(step) = &spec.plan else { return Ok(()) };
        let command = PlanCommand::Start {
            call_id: spec.call_id,
            capability: spec.capability.clone(),
            input_digest: spec.input_digest.clone(),
        };
        self.decide::<Plan>(&step.plan_id.to_string(), command).await.map(drop)
    }

    /// The step of a plan follows the call that carries it out, once that has ended.
    pub(crate) async fn follow_plan(&mut self, call: CallId) -> Result<(), CommandError> {
        let call = self.load::<ToolCall>(&call.to_string()).await?.state;
        let (Some(spec), Standing::Ended(status)) = (call.spec, call.standing) else { return Ok(()) };
        let Some(step) = spec.plan else { return Ok(()) };
        let (step_id, call_id, status) = (step.step_id, spec.call_id, StepStatus::of_call(status));
        let command = PlanCommand::End { step_id, call_id, status };
        self.decide::<Plan>(&step.plan_id.to_string(), command).await.map(drop)
    }
}
