//! Tiers: the limits that come with a plan. They are data (`data/tiers.json`), not code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::capability::Risk;

/// The most that a sandbox run may ask for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxCeiling {
    /// Wall clock, in milliseconds.
    pub timeout_ms: u64,
    /// Memory, in MiB.
    pub memory_mb: u64,
    /// Whether policy may permit network.
    pub network: bool,
}

/// The limits of a plan.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tier {
    /// Calls of a higher risk are denied.
    pub risk_ceiling: Risk,
    /// Approvals that may be open in a workspace at a time.
    pub approvals_open: u32,
    /// The sandbox's limits; without them there is no sandbox.
    pub sandbox: Option<SandboxCeiling>,
}

static TIERS: LazyLock<BTreeMap<String, Tier>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../data/tiers.json")).unwrap_or_default());

impl Tier {
    /// The tier with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TIERS.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_the_three_tiers() {
        assert_eq!(TIERS.keys().collect::<Vec<_>>(), ["enterprise", "free", "team"]);
        assert_eq!(Tier::named("free").unwrap().risk_ceiling, Risk::Medium);
    }
}
