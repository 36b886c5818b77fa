//! The decision: allow, ask or deny, with the rule that decided. The first refusal wins.

use serde_json::Value;

use super::{PolicyDocument, Tier};
use crate::capability::{Capability, CodeExecuteInput, Effect, Network, Risk, Surface};
use crate::role::Role;

/// Who wants to call what.
pub struct Question<'a> {
    /// The role by whose authority the call is made.
    pub role: Role,
    /// Where it comes from.
    pub surface: Surface,
    /// What is called.
    pub capability: &'a Capability,
    /// With what; it has passed the schema.
    pub input: &'a Value,
    /// What the workspace permits.
    pub policy: &'a PolicyDocument,
}

/// The answer. `rule` names what decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow {
        /// What decided.
        rule: &'static str,
    },
    /// A person is asked first.
    Ask {
        /// What decided.
        rule: &'static str,
    },
    /// It may not run.
    Deny {
        /// What decided.
        rule: &'static str,
        /// For the model and the person: what, why, and what to do.
        reason: String,
    },
}

/// Judges a call. What a person does through the API without an external effect passes the first two steps alone.
pub fn judge(question: &Question<'_>) -> Verdict {
    let Question { role, surface, capability, policy, .. } = question;
    if !role.may(capability.right) {
        let reason =
            format!("the role {role:?} may not call {}: ask an owner for another role", capability.name);
        return Verdict::Deny { rule: "role", reason: reason.to_lowercase() };
    }
    if !capability.is_on(*surface) {
        let reason = format!("{} cannot be called from the {surface:?} surface", capability.name);
        return Verdict::Deny { rule: "surface", reason };
    }
    if *surface == Surface::Api && capability.effect != Effect::External {
        return Verdict::Allow { rule: "person" };
    }
    let Some(tier) = Tier::named(&policy.tier) else {
        return Verdict::Deny {
            rule: "tier",
            reason: format!("the policy names an unknown tier `{}`", policy.tier),
        };
    };
    if capability.risk > tier.risk_ceiling {
        let reason = format!(
            "{} has {:?} risk and the tier `{}` goes up to {:?}",
            capability.name, capability.risk, policy.tier, tier.risk_ceiling
        );
        return Verdict::Deny { rule: "tier.risk", reason };
    }
    if let Some(verdict) = over_sandbox_limits(question, tier) {
        return verdict;
    }
    if capability.risk == Risk::High && !policy.enabled.contains(capability.name) {
        let reason =
            format!("{} has high risk and this workspace has not enabled it by name", capability.name);
        return Verdict::Deny { rule: "allowlist", reason };
    }
    if capability.asks_approval {
        return Verdict::Ask { rule: "capability.asks_approval" };
    }
    Verdict::Allow { rule: "default" }
}

/// Asking over a limit is refused with the limit in the error, never clamped in silence.
fn over_sandbox_limits(question: &Question<'_>, tier: &Tier) -> Option<Verdict> {
    let Question { capability, input, policy, .. } = question;
    if capability.name != "agent.code.execute" {
        return None;
    }
    let deny = |rule, reason| Some(Verdict::Deny { rule, reason });
    let Some(ceiling) = tier.sandbox else {
        return deny("tier.sandbox", format!("the tier `{}` has no sandbox", policy.tier));
    };
    let Ok(run) = serde_json::from_value::<CodeExecuteInput>((*input).clone()) else {
        return deny("input", "the input does not fit the schema".to_owned());
    };
    if run.timeout_ms > ceiling.timeout_ms {
        let text =
            format!("timeoutMs {} is over this workspace's limit of {}", run.timeout_ms, ceiling.timeout_ms);
        return deny("tier.timeout", text);
    }
    if run.memory_mb > ceiling.memory_mb {
        let text =
            format!("memoryMb {} is over this workspace's limit of {}", run.memory_mb, ceiling.memory_mb);
        return deny("tier.memory", text);
    }
    if run.network == Network::Allow && !(ceiling.network && policy.network) {
        return deny("sandbox.network", "this workspace's policy gives the sandbox no network".to_owned());
    }
    if !policy.languages.contains(&run.language) {
        return deny(
            "sandbox.language",
            format!("this workspace's policy does not permit {:?}", run.language),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::capability::catalog::find;

    fn rule(policy: &PolicyDocument, role: Role, name: &str, input: &Value) -> (&'static str, &'static str) {
        let question =
            Question { role, surface: Surface::Agent, capability: find(name).unwrap(), input, policy };
        match judge(&question) {
            Verdict::Allow { rule } => ("allow", rule),
            Verdict::Ask { rule } => ("ask", rule),
            Verdict::Deny { rule, .. } => ("deny", rule),
        }
    }

    #[test]
    fn high_risk_is_denied_until_enabled_and_then_asks() {
        let run = json!({"language": "python", "code": "1"});
        let closed = PolicyDocument::default();
        assert_eq!(rule(&closed, Role::Member, "agent.code.execute", &run), ("deny", "allowlist"));
        let open = PolicyDocument { enabled: ["agent.code.execute".to_owned()].into(), ..closed };
        assert_eq!(
            rule(&open, Role::Member, "agent.code.execute", &run),
            ("ask", "capability.asks_approval")
        );
        assert_eq!(rule(&open, Role::Viewer, "agent.code.execute", &run), ("deny", "role"));
    }

    #[test]
    fn limits_of_the_tier_are_refused_by_name() {
        let policy =
            PolicyDocument { enabled: ["agent.code.execute".to_owned()].into(), ..Default::default() };
        let long = json!({"language": "python", "code": "1", "timeoutMs": 60_000});
        assert_eq!(rule(&policy, Role::Owner, "agent.code.execute", &long), ("deny", "tier.timeout"));
        let online = json!({"language": "python", "code": "1", "network": "allow"});
        assert_eq!(rule(&policy, Role::Owner, "agent.code.execute", &online), ("deny", "sandbox.network"));
        let free = PolicyDocument { tier: "free".to_owned(), ..policy };
        assert_eq!(rule(&free, Role::Owner, "agent.code.execute", &long), ("deny", "tier.risk"));
    }

    #[test]
    fn reading_needs_nobody() {
        let policy = PolicyDocument::default();
        assert_eq!(rule(&policy, Role::Viewer, "agent.tool.list", &json!({})), ("allow", "default"));
    }
}
