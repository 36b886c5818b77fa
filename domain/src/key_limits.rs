//! What an API key is limited to, below the role that it carries.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Surface;
use crate::policy::pattern::fits;
use crate::role::Right;

/// Patterns in a key's limits at most.
const PATTERNS: usize = 100;

/// A key's limits. They hold for all that the key asks for, and for all that turns do which it has started: nothing that is
/// started has more authority than who started it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct KeyLimits {
    /// What it may do, of what its role may: `read`, `act`, `decide`, `administer`. All of that unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<BTreeSet<Right>>,
    /// What it may call: names or patterns such as `agent.code.*`, of tools and of the operations of routes. Anything
    /// unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub capabilities: Option<BTreeSet<String>>,
    /// Where calls may come from: `api` for those that it makes itself, `agent` for those in its turns. Both unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surfaces: Option<BTreeSet<Surface>>,
}

impl KeyLimits {
    /// Whether there are none.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it may use that right, where its role carries it.
    pub fn may(&self, right: Right) -> bool {
        self.rights.as_ref().is_none_or(|rights| rights.contains(&right))
    }

    /// Whether it may call that.
    pub fn reaches(&self, name: &str) -> bool {
        let patterns = self.capabilities.as_ref();
        patterns.is_none_or(|patterns| patterns.iter().any(|pattern| fits(pattern, name)))
    }

    /// Whether its calls may come from there.
    pub fn is_on(&self, surface: Surface) -> bool {
        self.surfaces.as_ref().is_none_or(|surfaces| surfaces.contains(&surface))
    }

    /// What is wrong with them, if anything: where inside them, and what.
    pub fn flaw(&self) -> Option<(&'static str, &'static str)> {
        if self.rights.as_ref().is_some_and(BTreeSet::is_empty) {
            return Some((
                "/rights",
                "a key without any right opens nothing: leave it out for all of its role's",
            ));
        }
        if self.surfaces.as_ref().is_some_and(BTreeSet::is_empty) {
            return Some((
                "/surfaces",
                "a key whose calls come from nowhere calls nothing: leave it out for all",
            ));
        }
        let patterns = self.capabilities.as_ref()?;
        if !(1..=PATTERNS).contains(&patterns.len()) {
            return Some(("/capabilities", "1 to 100 names or patterns: leave it out for anything"));
        }
        let long = patterns.iter().any(|pattern| !(1..=200).contains(&pattern.chars().count()));
        long.then_some(("/capabilities", "a pattern has 1 to 200 characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(capabilities: &[&str]) -> KeyLimits {
        let capabilities = Some(capabilities.iter().map(|name| (*name).to_owned()).collect());
        KeyLimits { capabilities, ..KeyLimits::default() }
    }

    #[test]
    fn what_is_not_told_is_not_limited_and_what_is_told_is_all_there_is() {
        let none = KeyLimits::default();
        assert!(none.is_unlimited() && none.reaches("anything") && none.may(Right::Administer));
        let code = only(&["agent.code.*", "me.read"]);
        assert!(
            code.reaches("agent.code.execute")
                && code.reaches("me.read")
                && !code.reaches("agent.turn.start")
        );
        assert!(code.is_on(Surface::Agent) && code.may(Right::Act), "the rest is not limited");
        let reads = KeyLimits { rights: Some([Right::Read].into()), ..KeyLimits::default() };
        assert!(reads.may(Right::Read) && !reads.may(Right::Act));
        let api = KeyLimits { surfaces: Some([Surface::Api].into()), ..KeyLimits::default() };
        assert!(api.is_on(Surface::Api) && !api.is_on(Surface::Agent));
    }

    #[test]
    fn limits_that_leave_nothing_are_flaws() {
        assert_eq!(only(&["*"]).flaw(), None);
        assert_eq!(only(&[]).flaw().unwrap().0, "/capabilities");
        assert_eq!(only(&[""]).flaw().unwrap().0, "/capabilities");
        let no_rights = KeyLimits { rights: Some(BTreeSet::new()), ..KeyLimits::default() };
        assert_eq!(no_rights.flaw().unwrap().0, "/rights");
    }
}
