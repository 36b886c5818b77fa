//! Standing approvals: answers that a person wants remembered, for the very same arguments or for a pattern.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::condition::Condition;
use super::pattern::fits;
use crate::body::Digest;
use crate::ids::{ApprovalId, StandingApprovalId, ToolVersionId, UserId};

/// What a standing approval covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Covers {
    /// One capability with exactly these arguments.
    Exact {
        /// The capability.
        capability: String,
        /// The digest of the arguments' canonical form.
        input_digest: Digest,
    },
    /// Every capability that fits, with arguments for which all conditions hold.
    Pattern {
        /// A pattern such as `agent.code.*`.
        capability: String,
        /// What must hold of the arguments; none means any arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        when: Vec<Condition>,
    },
}

/// An answer that stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// Its identifier; decisions name it as `standing.<id>`.
    pub standing_approval_id: StandingApprovalId,
    /// What it covers.
    pub covers: Covers,
    /// The version of the tool that the person saw; another version is asked about again.
    pub tool_version_id: ToolVersionId,
    /// The approval whose answer it remembers.
    pub approval_id: ApprovalId,
    /// Who gave it.
    pub made_by: UserId,
    /// When.
    pub made_at: DateTime<Utc>,
}

impl StandingApproval {
    /// Whether it is about the very same arguments.
    pub fn is_exact(&self) -> bool {
        matches!(self.covers, Covers::Exact { .. })
    }

    /// Whether it covers a call.
    pub fn covers(&self, capability: &str, version: ToolVersionId, input: &Value) -> bool {
        match &self.covers {
            Covers::Exact { capability: name, input_digest } => {
                self.tool_version_id == version
                    && name == capability
                    && *input_digest == Digest::of_canonical(input)
            }
            // A pattern speaks of many tools, whose versions the person did not all see.
            Covers::Pattern { capability: pattern, when } => {
                fits(pattern, capability) && when.iter().all(|condition| condition.holds(input))
            }
        }
    }
}
