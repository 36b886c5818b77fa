//! What the decision point is asked: facts that the handler has gathered.

use serde_json::Value;

use super::{Authority, Policy};
use crate::capability::{Capability, Effect, Risk, Surface};
use crate::ids::ToolVersionId;
use crate::key_limits::KeyLimits;
use crate::role::Right;

/// The one tool that makes plans.
pub const PLAN_CREATE: &str = "agent.plan.create";

/// What is called: a capability of the catalogue, or a tool from outside.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its name in facts, rows and policy.
    pub name: &'a str,
    /// Its version.
    pub version: ToolVersionId,
    /// What it changes, as people declared it: what a server says of its own tools does not count.
    pub effect: Effect,
    /// How much it can break.
    pub risk: Risk,
    /// Whether a person is asked first.
    pub asks_approval: bool,
    /// What the caller's role must carry.
    pub right: Right,
    /// Where it can be called from.
    pub surfaces: &'a [Surface],
}

impl From<&Capability> for Subject<'static> {
    fn from(capability: &Capability) -> Self {
        Self {
            name: capability.name,
            version: capability.version_id(),
            effect: capability.effect,
            risk: capability.risk,
            asks_approval: capability.asks_approval,
            right: capability.right,
            surfaces: capability.surfaces,
        }
    }
}

/// How a call stands to the plan that its turn follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlanStanding {
    /// There is no approved plan.
    #[default]
    NoPlan,
    /// This step of it grants exactly this call.
    Granted {
        /// The step.
        step: String,
    },
    /// It is not in the plan.
    Drift,
}

/// Who wants to call what.
pub struct Question<'a> {
    /// By whose authority the call is made.
    pub authority: Authority,
    /// The limits of the key with which it was asked for, or its turn started.
    pub limits: &'a KeyLimits,
    /// Where it comes from.
    pub surface: Surface,
    /// What is called.
    pub subject: Subject<'a>,
    /// With what; it has passed the schema.
    pub input: &'a Value,
    /// The same with the schema's defaults filled in, which conditions are about.
    pub completed: &'a Value,
    /// How it stands to the plan of its turn.
    pub plan: PlanStanding,
    /// What the workspace permits, and which answers stand.
    pub policy: &'a Policy,
}
