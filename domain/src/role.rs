//! Who may do what: roles and the rights that they carry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A caller's role in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything, keys of other owners included.
    Owner,
    /// Everything but making owners.
    Admin,
    /// Converses, calls tools and answers approvals.
    Member,
    /// Only reads.
    Viewer,
    /// A program: converses and calls tools, answers nothing.
    Service,
}

/// What a caller asks to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read what is in the workspace.
    Read,
    /// Start turns and calls, cancel them, edit conversations.
    Act,
    /// Answer questions that were put to a person.
    Decide,
    /// Make and revoke keys, publish agents, set the policy.
    Administer,
}

impl Right {
    /// Every right.
    pub const ALL: [Self; 4] = [Self::Read, Self::Act, Self::Decide, Self::Administer];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Decide => "decide",
            Self::Administer => "administer",
        }
    }
}

impl Role {
    /// Whether this role carries that right.
    pub fn may(self, right: Right) -> bool {
        match self {
            Self::Owner | Self::Admin => true,
            Self::Member => matches!(right, Right::Read | Right::Act | Right::Decide),
            Self::Service => matches!(right, Right::Read | Right::Act),
            Self::Viewer => matches!(right, Right::Read),
        }
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Viewer => "viewer",
            Self::Service => "service",
        }
    }

    /// The one of both that may do less. Each role carries all the rights of those below it.
    #[must_use]
    pub fn lesser(self, other: Self) -> Self {
        if self.rank() <= other.rank() { self } else { other }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Viewer => 0,
            Self::Service => 1,
            Self::Member => 2,
            Self::Admin => 3,
            Self::Owner => 4,
        }
    }
}
