//! On which terms an approval is given: how many people, of which roles, and whether the requester may be among them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::UserId;
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

/// Why these terms do not let somebody answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermsRefusal {
    /// Not with this role.
    #[error("the role `{}` may not answer this: it wants {}", .role.name(), names(.wanted))]
    Role {
        /// The answerer's.
        role: Role,
        /// Those that may.
        wanted: Vec<Role>,
    },
    /// The person for whom the call is made, or the turn runs, may not approve it.
    #[error(
        "this wants somebody else: its terms leave out the person for whom it is done (`excludeRequester`), who may deny it but not approve it"
    )]
    Requester,
}

fn names(roles: &[Role]) -> String {
    roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(" or ")
}

impl ApprovalTerms {
    /// Whether this person may answer so. Whoever asked may always take it back by a denial.
    pub(crate) fn admit(
        &self,
        requested_by: UserId,
        (by, role): (UserId, Role),
        approves: bool,
    ) -> Result<(), TermsRefusal> {
        if self.exclude_requester && approves && by == requested_by {
            return Err(TermsRefusal::Requester);
        }
        if !self.roles.is_empty() && !self.roles.contains(&role) {
            return Err(TermsRefusal::Role { role, wanted: self.roles.clone() });
        }
        Ok(())
    }

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
