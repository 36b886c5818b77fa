//! Policy: who may call what. A workspace has one policy; setting it makes a new version.
//!
//! [`judge`] is the one decision point in front of every call from every surface.

mod judge;
mod tier;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::capability::Language;

pub use judge::{Question, Verdict, judge};
pub use tier::{SandboxCeiling, Tier};

/// What a workspace permits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PolicyDocument {
    /// Name of the tier: `free`, `team` or `enterprise`.
    pub tier: String,
    /// Capabilities of high risk that are enabled by name.
    pub enabled: BTreeSet<String>,
    /// Languages that the sandbox may run.
    pub languages: BTreeSet<Language>,
    /// Whether a sandbox run may ask for network, where the tier has it.
    pub network: bool,
    /// How long an approval stays open, in seconds: 10 to 2,592,000 (30 days).
    #[schemars(range(min = 10, max = 2_592_000))]
    pub approval_expiry_seconds: u64,
}

impl Default for PolicyDocument {
    fn default() -> Self {
        Self {
            tier: "team".to_owned(),
            enabled: BTreeSet::new(),
            languages: [Language::Node, Language::Python, Language::Shell].into(),
            network: false,
            approval_expiry_seconds: 3600,
        }
    }
}

/// A workspace's policy. Its version is the aggregate's version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// What is permitted now.
    pub document: PolicyDocument,
}

/// What has happened to a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PolicyEvent {
    /// A new version came into force.
    Set {
        /// What it permits.
        document: PolicyDocument,
    },
}

/// What a policy can be told.
#[derive(Clone, Debug)]
pub enum PolicyCommand {
    /// Bring this document into force.
    Set(PolicyDocument),
}

/// Why a policy was not set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyRefusal {
    /// There is no such tier.
    #[error("there is no tier `{0}`: use free, team or enterprise")]
    UnknownTier(String),
    /// Outside 10 s to 30 days.
    #[error("approvalExpirySeconds must be between 10 and 2592000, not {0}")]
    Expiry(u64),
    /// Not a capability.
    #[error("`{0}` in `enabled` is no capability of this runtime")]
    UnknownCapability(String),
}

aggregate!(Policy as "policy": PolicyCommand => PolicyEvent or PolicyRefusal);
event_kinds!(PolicyEvent { Set => "policy.set" });

impl Policy {
    fn evolve(&mut self, event: PolicyEvent) {
        match event {
            PolicyEvent::Set { document } => self.document = document,
        }
    }

    fn decide(&self, command: PolicyCommand) -> Result<Vec<PolicyEvent>, PolicyRefusal> {
        let PolicyCommand::Set(document) = command;
        if Tier::named(&document.tier).is_none() {
            return Err(PolicyRefusal::UnknownTier(document.tier));
        }
        if !(10..=2_592_000).contains(&document.approval_expiry_seconds) {
            return Err(PolicyRefusal::Expiry(document.approval_expiry_seconds));
        }
        if let Some(name) =
            document.enabled.iter().find(|name| crate::capability::catalog::find(name).is_none())
        {
            return Err(PolicyRefusal::UnknownCapability(name.clone()));
        }
        Ok(vec![PolicyEvent::Set { document }])
    }
}
