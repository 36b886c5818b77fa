//! `agent.tool.list`: input and output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Risk, catalog};

/// Input of `agent.tool.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolListInput {}

/// One tool as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolDescription {
    /// Its name in facts, rows and policy.
    pub capability: String,
    /// Its name on the wire to a model.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it is about.
    pub category: String,
    /// What it changes.
    pub effect: Effect,
    /// How much it can break.
    pub risk: Risk,
    /// Whether a person is asked first.
    pub requires_approval: bool,
    /// Whether it comes from outside the runtime.
    pub external: bool,
    /// Digest of name, effect, risk and schemas.
    pub schema_digest: String,
}

/// Output of `agent.tool.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolListOutput {
    /// The tools, by name.
    pub tools: Vec<ToolDescription>,
}

impl From<&Capability> for ToolDescription {
    fn from(tool: &Capability) -> Self {
        Self {
            capability: tool.name.to_owned(),
            name: tool.wire_name(),
            description: tool.summary.to_owned(),
            category: tool.category.to_owned(),
            effect: tool.effect,
            risk: tool.risk,
            requires_approval: tool.asks_approval,
            external: false,
            schema_digest: tool.digest().to_string(),
        }
    }
}

impl ToolListOutput {
    /// The tools of the catalogue.
    pub fn of_catalog() -> Self {
        Self { tools: catalog::tools().map(ToolDescription::from).collect() }
    }
}
