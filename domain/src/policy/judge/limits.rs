//! The tier's limits. Asking over one is refused with the limit in the error, never clamped in silence.

use super::Verdict;
use crate::capability::{CodeExecuteInput, Network};
use crate::policy::{Question, Tier};

pub(super) fn tier(question: &Question<'_>) -> Option<Verdict> {
    let (subject, policy) = (&question.subject, &question.policy.document);
    let Some(tier) = Tier::named(&policy.tier) else {
        return Some(Verdict::deny("tier", format!("the policy names an unknown tier `{}`", policy.tier)));
    };
    if subject.risk > tier.risk_ceiling {
        let reason = format!(
            "{} has {} risk and the tier `{}` goes up to {}: another tier is needed for it",
            subject.name,
            subject.risk.name(),
            policy.tier,
            tier.risk_ceiling.name()
        );
        return Some(Verdict::deny("tier.risk", reason));
    }
    if subject.name == "agent.code.execute" { sandbox(question, tier) } else { None }
}

fn sandbox(question: &Question<'_>, tier: &Tier) -> Option<Verdict> {
    let policy = &question.policy.document;
    let deny = |rule: &str, reason: String| Some(Verdict::deny(rule, reason));
    let Some(ceiling) = tier.sandbox else {
        return deny("tier.sandbox", format!("the tier `{}` has no sandbox", policy.tier));
    };
    let Ok(run) = serde_json::from_value::<CodeExecuteInput>(question.input.clone()) else {
        return deny("input", "the input does not fit the schema".to_owned());
    };
    if run.timeout_ms > ceiling.timeout_ms {
        let limit = ceiling.timeout_ms;
        return deny("tier.timeout", over("timeoutMs", run.timeout_ms, limit));
    }
    if run.memory_mb > ceiling.memory_mb {
        return deny("tier.memory", over("memoryMb", run.memory_mb, ceiling.memory_mb));
    }
    if run.network == Network::Allow && !(ceiling.network && policy.network) {
        let text = "this workspace's policy gives the sandbox no network: ask for a run with `network: deny`";
        return deny("sandbox.network", text.to_owned());
    }
    if !policy.languages.contains(&run.language) {
        let text =
            format!("this workspace's policy does not permit {:?}: use another language", run.language);
        return deny("sandbox.language", text);
    }
    None
}

fn over(what: &str, asked: u64, limit: u64) -> String {
    format!("{what} {asked} is over this workspace's limit of {limit}: ask for {limit} or less")
}
