//! The decision: allow, ask or deny, with the rule that decided. The steps are taken in their order; the first that
//! has an answer decides.

mod limits;
mod steps;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ApprovalTerms, PolicyDocument, Question};

/// The answer. `rule` names what decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow {
        /// What decided.
        rule: String,
    },
    /// A person is asked first.
    Ask {
        /// What decided.
        rule: String,
        /// Why, in words.
        reason: String,
        /// What it takes to approve.
        terms: ApprovalTerms,
    },
    /// It may not run.
    Deny {
        /// What decided.
        rule: String,
        /// For the model and the person: what, why, and what to do.
        reason: String,
    },
}

impl Verdict {
    /// What decided.
    pub fn rule(&self) -> &str {
        match self {
            Self::Allow { rule } | Self::Ask { rule, .. } | Self::Deny { rule, .. } => rule,
        }
    }

    /// The answer in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allow { .. } => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny { .. } => "deny",
        }
    }

    /// Why, in words; none for what nobody has a word against.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Allow { .. } => None,
            Self::Ask { reason, .. } | Self::Deny { reason, .. } => Some(reason),
        }
    }

    fn allow(rule: impl Into<String>) -> Self {
        Self::Allow { rule: rule.into() }
    }

    fn deny(rule: impl Into<String>, reason: String) -> Self {
        Self::Deny { rule: rule.into(), reason }
    }
}

/// One step of the decision: its name, and its answer if it has one.
type Step = (&'static str, fn(&Question<'_>) -> Option<Verdict>);

/// The steps, in their order.
const STEPS: &[Step] = &[
    ("role", steps::role),
    ("key", steps::key),
    ("surface", steps::surface),
    ("person", steps::person),
    ("kill_switch", steps::kill_switch),
    ("plan_mode", steps::plan_mode),
    ("tier", limits::tier),
    ("allowlist", steps::allowlist),
    ("rules.deny", steps::deny_rules),
    ("plan", steps::plan_itself),
    ("rules.always_ask", steps::always_ask_rules),
    ("plan.drift", steps::drift),
    ("rules.ask", steps::ask_rules),
    ("rules.allow", steps::allow_rules),
    ("capability.asks_approval", steps::own_question),
];

/// Judges a call. What a person does through the API without an external effect passes the first steps alone.
pub fn judge(question: &Question<'_>) -> Verdict {
    STEPS.iter().find_map(|(_, step)| step(question)).unwrap_or_else(|| Verdict::allow("default"))
}

/// The refusal of a question over the tier's limit, when so many approvals are open already. Plans are no approvals.
pub fn one_too_many(policy: &PolicyDocument, open: u32) -> Option<Verdict> {
    limits::approvals(policy, open)
}

/// What would happen to a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The rule that decided.
    pub rule: String,
    /// Why, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it takes to approve, when a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalTerms>,
    /// The steps that had nothing to say before that, in their order.
    pub passed: Vec<&'static str>,
}

impl Explanation {
    /// It comes to this in the end.
    pub fn becomes(&mut self, verdict: &Verdict) {
        self.decision = verdict.word();
        verdict.rule().clone_into(&mut self.rule);
        self.reason = verdict.reason().map(str::to_owned);
        self.approval = match verdict {
            Verdict::Ask { terms, .. } => Some(terms.clone()),
            Verdict::Allow { .. } | Verdict::Deny { .. } => None,
        };
    }
}

/// Judges a call and says how the decision came about.
pub fn explain(question: &Question<'_>) -> Explanation {
    let passed: Vec<_> =
        STEPS.iter().take_while(|(_, step)| step(question).is_none()).map(|(name, _)| *name).collect();
    let verdict = judge(question);
    let approval = match &verdict {
        Verdict::Ask { terms, .. } => Some(terms.clone()),
        Verdict::Allow { .. } | Verdict::Deny { .. } => None,
    };
    Explanation {
        decision: verdict.word(),
        rule: verdict.rule().to_owned(),
        reason: verdict.reason().map(str::to_owned),
        approval,
        passed,
    }
}
