//! The tier's limits. Asking over one is refused with the limit in the error, never clamped in silence.

use super::Verdict;
use crate::capability::{CodeExecuteInput, Network};
use crate::policy::{PolicyDocument, Question, Tier};

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
        return deny(
            "tier.sandbox",
            format!("the tier `{}` has no sandbox: another tier is needed to run code", policy.tier),
        );
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
        let permitted: Vec<_> = policy.languages.iter().map(|language| language.name()).collect();
        let text = format!(
            "this workspace's policy does not permit {}: use {}",
            run.language.name(),
            if permitted.is_empty() { "no sandbox".to_owned() } else { permitted.join(" or ") }
        );
        return deny("sandbox.language", text);
    }
    None
}

fn over(what: &str, asked: u64, limit: u64) -> String {
    format!("{what} {asked} is over this workspace's limit of {limit}: ask for {limit} or less")
}

/// Whether as many people's words are waited for as the tier permits: the refusal of one more.
pub(super) fn approvals(policy: &PolicyDocument, open: u32) -> Option<Verdict> {
    let most = Tier::named(&policy.tier)?.approvals_open;
    (open >= most).then(|| {
        let reason = format!(
            "{open} approvals are open in this workspace, and the tier `{}` has room for {most}: it can be asked for again \
             when some of them are answered",
            policy.tier
        );
        Verdict::deny("tier.approvals", reason)
    })
}
