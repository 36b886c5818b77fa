//! Capabilities: what the runtime can do, each declared once in the [`catalog`].

pub mod catalog;
mod code_execute;
mod plan_create;
mod tool_list;
mod validate;

use std::collections::HashMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::Digest;
use crate::ids::{ToolVersionId, derive};
use crate::role::Right;

pub use code_execute::{CodeExecuteInput, CodeExecuteOutput, CodeFile, Language, Limits, Network};
pub use plan_create::{PlanCreateInput, PlanCreateOutput};
pub use tool_list::{ToolDescription, ToolListInput, ToolListOutput};
pub use validate::{Flaw, validate, with_defaults};

/// Where a capability can be called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The HTTP API.
    Api,
    /// A model, in a turn.
    Agent,
}

impl Surface {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Agent => "agent",
        }
    }
}

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing that anyone can see.
    Read,
    /// Our own state.
    Write,
    /// The world outside.
    External,
}

/// How much a call can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Harmless.
    Low,
    /// Costs something.
    Medium,
    /// Can do damage; denied unless a workspace enables it by name.
    High,
}

impl Risk {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The HTTP door of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// `GET`, `POST` …
    pub method: &'static str,
    /// The path, with `{parameters}`.
    pub path: &'static str,
}

/// One declaration, from which route, OpenAPI entry, agent tool, docs page and golden row come.
pub struct Capability {
    /// Its name in facts, rows and policy.
    pub name: &'static str,
    /// One sentence for people and models.
    pub summary: &'static str,
    /// What it is about, for grouping.
    pub category: &'static str,
    /// Where it can be called from.
    pub surfaces: &'static [Surface],
    /// What it changes.
    pub effect: Effect,
    /// How much it can break.
    pub risk: Risk,
    /// Whether a person is asked first.
    pub asks_approval: bool,
    /// What a caller's role must carry.
    pub right: Right,
    /// Its HTTP door, when it has the surface `api`.
    pub route: Option<Route>,
    /// The JSON schema of its input.
    pub input: fn() -> Schema,
    /// The JSON schema of its output.
    pub output: fn() -> Schema,
    /// Whether a call with this input may run a second time after its runner died.
    pub may_rerun: fn(&Value) -> bool,
}

/// Digests of the catalogue's entries. Making a schema costs more than all else that a call needs, and no declaration
/// changes while the program runs.
static DIGESTS: LazyLock<HashMap<&'static str, Digest>> =
    LazyLock::new(|| catalog::CATALOG.iter().map(|entry| (entry.name, digest(entry))).collect());

fn digest(capability: &Capability) -> Digest {
    Digest::of_canonical(&serde_json::json!({
        "name": capability.name, "effect": capability.effect, "risk": capability.risk,
        "input": (capability.input)(), "output": (capability.output)(),
    }))
}

impl Capability {
    /// The name on the wire to a model: `^[A-Za-z0-9_-]{1,64}$`.
    pub fn wire_name(&self) -> String {
        self.name.replace('.', "_")
    }

    /// Whether it can be called from there.
    pub fn is_on(&self, surface: Surface) -> bool {
        self.surfaces.contains(&surface)
    }

    /// Digest of what a caller relies on: name, effect, risk and both schemas.
    pub fn digest(&self) -> Digest {
        DIGESTS.get(self.name).cloned().unwrap_or_else(|| digest(self))
    }

    /// The immutable version that this declaration is.
    pub fn version_id(&self) -> ToolVersionId {
        ToolVersionId(derive(uuid::Uuid::nil(), &format!("tool/{}/{}", self.name, self.digest())))
    }

    /// Whether this capability is on the agent surface, and so a tool.
    pub fn is_tool(&self) -> bool {
        self.is_on(Surface::Agent)
    }
}
