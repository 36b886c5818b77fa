//! Ordered rules over a capability's name and a call's arguments. Whatever their order, `deny` goes before
//! `always_ask`, `always_ask` before `ask`, and `ask` before `allow`; of those alike the first one is named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::condition::Condition;
use super::pattern::fits;
use super::terms::ApprovalTerms;

/// What a rule says of the calls that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// They do not run.
    Deny,
    /// A person is asked, also about what a plan or a standing approval covers.
    AlwaysAsk,
    /// A person is asked, unless a plan or a standing approval covers it.
    Ask,
    /// They run without a question, if nothing else denies or asks.
    Allow,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// Its name, unique in the policy: 1 to 100 characters. Decisions name it as `rules.<name>`.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// What it says.
    pub effect: RuleEffect,
    /// Which capabilities: a pattern such as `agent.code.*` or `mcp.files.*`.
    #[schemars(length(min = 1, max = 200))]
    pub capability: String,
    /// Which arguments: all of these must hold; none means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub when: Vec<Condition>,
    /// Why, in the workspace's own words: for the model and the people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub reason: Option<String>,
    /// Who must approve what it asks about; the policy's own terms unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalTerms>,
}

impl Rule {
    /// Whether it fits a call.
    pub fn fits(&self, capability: &str, input: &Value) -> bool {
        fits(&self.capability, capability) && self.when.iter().all(|condition| condition.holds(input))
    }

    /// What is wrong with it, if anything: where inside it, and what.
    pub(super) fn flaw(&self) -> Option<(String, String)> {
        let wrong = |place: &str, text: &str| Some((place.to_owned(), text.to_owned()));
        if !(1..=100).contains(&self.name.chars().count()) {
            return wrong("/name", "a name has 1 to 100 characters");
        }
        if !(1..=200).contains(&self.capability.chars().count()) {
            return wrong("/capability", "a pattern has 1 to 200 characters");
        }
        if self.when.len() > 20 {
            return wrong("/when", "a rule has at most 20 conditions");
        }
        if self.reason.as_ref().is_some_and(|reason| reason.chars().count() > 1000) {
            return wrong("/reason", "a reason has at most 1000 characters");
        }
        for (nth, condition) in self.when.iter().enumerate() {
            if let Some(text) = condition.flaw() {
                return wrong(&format!("/when/{nth}"), text);
            }
        }
        self.approval.as_ref().and_then(|terms| terms.flaw()).map(|text| ("/approval".to_owned(), text))
    }
}
