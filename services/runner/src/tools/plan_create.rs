//! `agent.plan.create`: the plan was made when the call was asked for; what is left to tell is what a person approved.

use oxagen_commands::StartedCall;
use oxagen_domain::PlanId;
use oxagen_domain::capability::PlanCreateOutput;
use oxagen_domain::plan::Plan;
use oxagen_domain::tool_call::CallError;
use serde_json::Value;

use super::json;
use crate::Shared;
use crate::calls::error;

impl Shared {
    pub(super) async fn approved_plan(&self, call: &StartedCall) -> Result<Value, CallError> {
        let plan_id = PlanId::of_call(call.spec.call_id);
        let loaded = self.options.commands.journal().load::<Plan>(&plan_id.to_string()).await;
        let plan =
            loaded.map_err(|cause| error("unavailable", format!("the plan cannot be read: {cause}")))?.state;
        json(&PlanCreateOutput {
            plan_id,
            version: plan.version,
            status: plan.status.name().to_owned(),
            steps: plan.steps,
            note: plan.answer.and_then(|answer| answer.note),
        })
    }
}
