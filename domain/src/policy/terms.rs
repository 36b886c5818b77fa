//! On which terms an approval is given: how many people, of which roles, and whether the requester may be among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::{Right, Role};

/// The most people that an approval can want.
const MOST: u32 = 20;

/// What it takes to approve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApprovalTerms {
    /// How many different people must approve: 1 to 20. One denial is enough to refuse.
    #[schemars(range(min = 1, max = 20))]
    pub needed: u32,
    /// Which roles may answer; none for every role that may answer at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Role>,
    /// Whether the person for whom the call is made may not approve it.
    pub exclude_requester: bool,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { needed: 1, roles: Vec::new(), exclude_requester: false }
    }
}

impl ApprovalTerms {
    /// Whether one answer of anybody who may answer is enough.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn flaw(&self) -> Option<String> {
        if !(1..=MOST).contains(&self.needed) {
            return Some(format!("between 1 and {MOST} people can be needed, not {}", self.needed));
        }
        let unable = self.roles.iter().find(|role| !role.may(Right::Decide))?;
        Some(format!("the role `{}` may answer no approval: use owner, admin or member", unable.name()))
    }
}
