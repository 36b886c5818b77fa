//! Policy: who may call what. A workspace has one policy; setting it makes a new version.
//!
//! [`judge`] is the one decision point in front of every call from every surface: a pure function over facts that
//! the handler has gathered. Answers that a person wants remembered are part of the policy, so that one version
//! says everything that a decision rested on.

mod authority;
mod condition;
mod judge;
mod kill_switch;
pub(crate) mod pattern;
mod question;
mod rule;
mod standing;
mod terms;
mod tier;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::capability::Language;
use crate::ids::{StandingApprovalId, UserId};

pub use authority::{Authority, Mode};
pub use condition::{Condition, Test};
pub use judge::{Explanation, Verdict, explain, judge, one_too_many};
pub use kill_switch::KillSwitch;
pub use question::{PLAN_CREATE, PlanStanding, Question, Subject};
pub use rule::{Rule, RuleEffect};
pub use standing::{Covers, StandingApproval};
pub use terms::{ApprovalTerms, TermsRefusal};
pub use tier::{SandboxCeiling, Tier};

/// Rules in a policy at most.
const RULES: usize = 1000;
/// Standing approvals in a workspace at most.
const STANDING: usize = 1000;

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
    /// What it takes to approve, unless the rule that asks says otherwise.
    #[serde(skip_serializing_if = "ApprovalTerms::is_plain")]
    pub approval: ApprovalTerms,
    /// Rules over names and arguments: at most 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub rules: Vec<Rule>,
    /// What may not start at all.
    #[serde(skip_serializing_if = "KillSwitch::is_unset")]
    pub kill_switch: KillSwitch,
}

impl Default for PolicyDocument {
    fn default() -> Self {
        Self {
            tier: "team".to_owned(),
            enabled: BTreeSet::new(),
            languages: [Language::Node, Language::Python, Language::Shell].into(),
            network: false,
            approval_expiry_seconds: 3600,
            approval: ApprovalTerms::default(),
            rules: Vec::new(),
            kill_switch: KillSwitch::default(),
        }
    }
}

/// A workspace's policy. Its version is the aggregate's version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// What is permitted now.
    pub document: PolicyDocument,
    /// The answers that stand.
    #[serde(default)]
    pub standing: BTreeMap<StandingApprovalId, StandingApproval>,
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
    /// An answer stands from now on.
    ApprovalRemembered {
        /// Which, and what it covers.
        standing: StandingApproval,
    },
    /// It does not stand any more.
    ApprovalForgotten {
        /// Which.
        standing_approval_id: StandingApprovalId,
        /// Who took it back.
        by: UserId,
    },
}

/// What a policy can be told.
#[derive(Clone, Debug)]
pub enum PolicyCommand {
    /// Bring this document into force.
    Set(PolicyDocument),
    /// Let an answer stand.
    Remember(StandingApproval),
    /// Take it back.
    Forget {
        /// Which.
        standing_approval_id: StandingApprovalId,
        /// Who takes it back.
        by: UserId,
    },
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
    /// Something in the document does not fit.
    #[error("{text}")]
    Flaw {
        /// JSON pointer into the document.
        pointer: String,
        /// What was expected.
        text: String,
    },
    /// There are too many answers that stand.
    #[error("a workspace keeps at most {STANDING} standing approvals: take some back first")]
    TooManyStanding,
    /// There is no such standing approval.
    #[error("there is no such standing approval")]
    UnknownStanding,
}

aggregate!(Policy as "policy": PolicyCommand => PolicyEvent or PolicyRefusal);
event_kinds!(PolicyEvent {
    Set => "policy.set",
    ApprovalRemembered => "policy.approval_remembered",
    ApprovalForgotten => "policy.approval_forgotten",
});

impl Policy {
    fn evolve(&mut self, event: PolicyEvent) {
        match event {
            PolicyEvent::Set { document } => self.document = document,
            PolicyEvent::ApprovalRemembered { standing } => {
                self.standing.insert(standing.standing_approval_id, standing);
            }
            PolicyEvent::ApprovalForgotten { standing_approval_id, .. } => {
                self.standing.remove(&standing_approval_id);
            }
        }
    }

    fn decide(&self, command: PolicyCommand) -> Result<Vec<PolicyEvent>, PolicyRefusal> {
        match command {
            PolicyCommand::Set(document) => {
                document.check()?;
                Ok(vec![PolicyEvent::Set { document }])
            }
            PolicyCommand::Remember(standing)
                if self.standing.contains_key(&standing.standing_approval_id) =>
            {
                Ok(vec![])
            }
            PolicyCommand::Remember(_) if self.standing.len() >= STANDING => {
                Err(PolicyRefusal::TooManyStanding)
            }
            PolicyCommand::Remember(standing) => Ok(vec![PolicyEvent::ApprovalRemembered { standing }]),
            PolicyCommand::Forget { standing_approval_id, by } => {
                if self.standing.contains_key(&standing_approval_id) {
                    Ok(vec![PolicyEvent::ApprovalForgotten { standing_approval_id, by }])
                } else {
                    Err(PolicyRefusal::UnknownStanding)
                }
            }
        }
    }
}

impl PolicyDocument {
    /// When a question closes by itself that is put to people now.
    pub fn deadline(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        now + TimeDelta::seconds(i64::try_from(self.approval_expiry_seconds).unwrap_or(3600))
    }

    fn check(&self) -> Result<(), PolicyRefusal> {
        if Tier::named(&self.tier).is_none() {
            return Err(PolicyRefusal::UnknownTier(self.tier.clone()));
        }
        if !(10..=2_592_000).contains(&self.approval_expiry_seconds) {
            return Err(PolicyRefusal::Expiry(self.approval_expiry_seconds));
        }
        let known =
            |name: &&String| name.starts_with("mcp.") || crate::capability::catalog::find(name).is_some();
        if let Some(name) = self.enabled.iter().find(|name| !known(name)) {
            return Err(PolicyRefusal::UnknownCapability(name.clone()));
        }
        let flaw = |pointer: String, text: String| Err(PolicyRefusal::Flaw { pointer, text });
        if let Some(text) = self.approval.flaw() {
            return flaw("/approval".to_owned(), text);
        }
        if self.rules.len() > RULES {
            return flaw("/rules".to_owned(), format!("a policy has at most {RULES} rules"));
        }
        let mut names = BTreeSet::new();
        for (nth, rule) in self.rules.iter().enumerate() {
            if let Some((place, text)) = rule.flaw() {
                return flaw(format!("/rules/{nth}{place}"), text);
            }
            if !names.insert(&rule.name) {
                return flaw(format!("/rules/{nth}/name"), format!("another rule is called `{}`", rule.name));
            }
        }
        Ok(())
    }
}
