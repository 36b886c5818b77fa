//! By whose authority a call is made. What is started by something else never has more of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::Role;

/// Whether an agent may act, or only look and plan.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It reads and makes a plan; nothing else runs until a person has approved that.
    Plan,
    /// It acts.
    #[default]
    Act,
}

impl Mode {
    /// Whether it is the usual one.
    pub fn is_act(&self) -> bool {
        *self == Self::Act
    }
}

/// A role and a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority {
    /// The role.
    pub role: Role,
    /// The mode.
    pub mode: Mode,
}

impl Authority {
    /// What is left of it for something that `parent` starts: the lesser role and the stricter mode.
    #[must_use]
    pub fn within(self, parent: Self) -> Self {
        Self { role: self.role.lesser(parent.role), mode: self.mode.min(parent.mode) }
    }
}
