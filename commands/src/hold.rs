//! A call is held: the question to a person that goes with it, and how often it was asked before.

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{PlanCreateInput, catalog};
use oxagen_domain::plan::{Plan, PlanCommand, PlanSpec};
use oxagen_domain::policy::{ApprovalTerms, PLAN_CREATE, Policy, Verdict, one_too_many};
use oxagen_domain::tool_call::{CallSpec, CallStatus, Standing, ToolCall};
use oxagen_domain::turn::Turn;
use oxagen_domain::{Approval, ApprovalCommand, ApprovalId, ApprovalQuestion, Digest, PlanId, TurnId};
use serde_json::Value;

use crate::error::{Code, CommandError};
use crate::unit::Unit;

/// Why a call is held.
pub(crate) struct Held {
    pub(crate) approval_id: ApprovalId,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) terms: ApprovalTerms,
    pub(crate) asked_before: u32,
    pub(crate) at: DateTime<Utc>,
}

impl Unit<'_> {
    /// Asks a person: about the call, or, when the call is a plan, about the plan.
    pub(crate) async fn put_to_a_person(
        &mut self,
        spec: &CallSpec,
        input: &Value,
        held: Held,
        policy: &Policy,
    ) -> Result<(), CommandError> {
        if spec.capability == PLAN_CREATE {
            return self.propose(spec, input, held, policy).await;
        }
        let question = ApprovalQuestion {
            approval_id: held.approval_id,
            call_id: spec.call_id,
            execution_step_id: spec.execution_step_id,
            capability: spec.capability.clone(),
            input: spec.input.clone(),
            input_digest: spec.input_digest.clone(),
            risk: spec.risk,
            rule: held.rule,
            requested_by: spec.requested_by,
            expires_at: policy.document.deadline(held.at),
            reason: Some(held.reason),
            terms: held.terms,
            asked_before: held.asked_before,
        };
        self.asked += 1;
        let id = held.approval_id.to_string();
        self.expect_new::<Approval>(&id);
        self.decide::<Approval>(&id, ApprovalCommand::Request(question)).await.map(drop)
    }

    /// Whether there is room for one more question about such a call: the refusal if not.
    pub(crate) async fn one_too_many(&self, capability: &str, policy: &Policy) -> Option<Verdict> {
        if capability == PLAN_CREATE {
            return None;
        }
        one_too_many(&policy.document, self.open_approvals().await?)
    }

    async fn propose(
        &mut self,
        spec: &CallSpec,
        input: &Value,
        held: Held,
        policy: &Policy,
    ) -> Result<(), CommandError> {
        let broken = |text: &str| CommandError::new(Code::Internal, format!("a plan {text}"));
        let wanted: PlanCreateInput =
            serde_json::from_value(input.clone()).map_err(|_| broken("does not fit its schema"))?;
        let place = spec.place.as_ref().ok_or_else(|| broken("was made outside a turn"))?;
        let plan_id = PlanId::of_call(spec.call_id);
        let plan = PlanSpec {
            plan_id,
            call_id: spec.call_id,
            turn_id: place.turn_id,
            conversation_id: place.conversation_id,
            title: wanted.title,
            rationale: wanted.rationale,
            requested_by: spec.requested_by,
            terms: held.terms,
        };
        let id = plan_id.to_string();
        self.expect_new::<Plan>(&id);
        let (at, expires_at) = (held.at, policy.document.deadline(held.at));
        let propose = PlanCommand::Propose { spec: plan, steps: wanted.steps, at, expires_at };
        self.decide::<Plan>(&id, propose).await.map(drop)
    }

    /// How often the turn has asked for the very same call, in vain.
    pub(crate) async fn asked_before(
        &mut self,
        turn: Option<TurnId>,
        capability: &str,
        input_digest: &Digest,
    ) -> Result<u32, CommandError> {
        let Some(turn) = turn else { return Ok(0) };
        let wire = catalog::find(capability).map(|tool| tool.wire_name());
        let turn = self.load::<Turn>(&turn.to_string()).await?.state;
        let calls = turn.results.values().flat_map(|result| &result.calls);
        let alike: Vec<_> =
            calls.filter(|call| wire.as_ref() == Some(&call.name)).map(|call| call.call_id).collect();
        let mut times = 0;
        for call in alike {
            let call = self.load::<ToolCall>(&call.to_string()).await?.state;
            let same = call
                .spec
                .as_ref()
                .is_some_and(|spec| spec.capability == capability && spec.input_digest == *input_digest);
            let refused = call.standing == Standing::Ended(CallStatus::Denied) && call.approval.is_some();
            times += u32::from(same && refused);
        }
        Ok(times)
    }

    /// Closes the question about a held call, because its turn moves on or the call is cancelled.
    pub(crate) async fn supersede(&mut self, call: &ToolCall) -> Result<(), CommandError> {
        let (Standing::Held(approval), Some(spec)) = (call.standing, &call.spec) else { return Ok(()) };
        if spec.capability == PLAN_CREATE {
            let plan = PlanId::of_call(spec.call_id).to_string();
            return self.decide::<Plan>(&plan, PlanCommand::Supersede).await.map(drop);
        }
        self.decide::<Approval>(&approval.to_string(), ApprovalCommand::Supersede).await.map(drop)
    }
}
