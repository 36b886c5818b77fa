//! `agent.plan.create`: input and output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Flaw;
use crate::ids::PlanId;
use crate::plan::{PlanStep, flaws};

/// Input of `agent.plan.create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanCreateInput {
    /// What the plan is about: 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What is to be done: 1 to 50 steps. A step with capability and exact input is granted by the plan's approval.
    #[schemars(length(min = 1, max = 50))]
    pub steps: Vec<PlanStep>,
    /// Why so: at most 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4000))]
    pub rationale: Option<String>,
}

impl PlanCreateInput {
    /// What the schema cannot say.
    pub fn flaws(&self) -> Vec<Flaw> {
        flaws(&self.steps)
    }
}

/// Output of `agent.plan.create`: the plan as a person approved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanCreateOutput {
    /// The plan.
    pub plan_id: PlanId,
    /// The version that was approved.
    pub version: u32,
    /// `approved`.
    pub status: String,
    /// Its steps, which a person may have changed.
    pub steps: Vec<PlanStep>,
    /// What the person said to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
