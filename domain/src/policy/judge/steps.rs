//! The steps of the decision, each a question of its own.

use super::Verdict;
use crate::capability::{Effect, Risk, Surface};
use crate::policy::{Mode, PLAN_CREATE, PlanStanding, Question, Rule, RuleEffect};

pub(super) fn role(question: &Question<'_>) -> Option<Verdict> {
    let (role, name) = (question.authority.role, question.subject.name);
    (!role.may(question.subject.right)).then(|| {
        let reason = format!("the role `{}` may not call {name}: ask an owner for another role", role.name());
        Verdict::deny("role", reason)
    })
}

/// What the key itself is limited to, whatever its role may.
pub(super) fn key(question: &Question<'_>) -> Option<Verdict> {
    let (limits, subject) = (question.limits, &question.subject);
    let (rule, what) = if !limits.may(subject.right) {
        ("key.right", format!("has no right to `{}`, which {} needs", subject.right.name(), subject.name))
    } else if !limits.reaches(subject.name) {
        ("key.capability", format!("does not reach {}", subject.name))
    } else if !limits.is_on(question.surface) {
        ("key.surface", format!("makes no calls from the surface `{}`", question.surface.name()))
    } else {
        return None;
    };
    let text = format!(
        "the key with which this was asked for is limited, and {what}: use another key, or ask an owner or admin for one"
    );
    Some(Verdict::deny(rule, text))
}

pub(super) fn surface(question: &Question<'_>) -> Option<Verdict> {
    let (name, from) = (question.subject.name, question.surface.name());
    (!question.subject.surfaces.contains(&question.surface)).then(|| {
        let own: Vec<_> = question.subject.surfaces.iter().map(|surface| surface.name()).collect();
        let text =
            format!("{name} cannot be called from the surface `{from}`, only from {}", own.join(" or "));
        Verdict::deny("surface", text)
    })
}

/// A person's own act is judged no further, so that nobody can lock the workspace's door from outside.
pub(super) fn person(question: &Question<'_>) -> Option<Verdict> {
    let own = question.surface == Surface::Api && question.subject.effect != Effect::External;
    own.then(|| Verdict::allow("person"))
}

pub(super) fn kill_switch(question: &Question<'_>) -> Option<Verdict> {
    let (rule, what) = question.policy.document.kill_switch.stops(question.subject.name)?;
    let reason = format!(
        "the kill switch is on for {what}, so {} does not start: an owner or admin can take it back in the policy",
        question.subject.name
    );
    Some(Verdict::deny(rule, reason))
}

pub(super) fn plan_mode(question: &Question<'_>) -> Option<Verdict> {
    let subject = &question.subject;
    let passes = subject.effect == Effect::Read || subject.name == PLAN_CREATE;
    (question.authority.mode == Mode::Plan && !passes).then(|| {
        let reason = format!(
            "{} changes something, and this turn is in plan mode: only reading and {PLAN_CREATE} run until a person has \
             approved a plan",
            subject.name
        );
        Verdict::deny("plan_mode", reason)
    })
}

pub(super) fn allowlist(question: &Question<'_>) -> Option<Verdict> {
    let subject = &question.subject;
    (subject.risk == Risk::High && !question.policy.document.enabled.contains(subject.name)).then(|| {
        let reason = format!(
            "{} has high risk and this workspace has not enabled it by name: an owner or admin can add it to `enabled` in \
             the policy",
            subject.name
        );
        Verdict::deny("allowlist", reason)
    })
}

pub(super) fn deny_rules(question: &Question<'_>) -> Option<Verdict> {
    let rule = first(question, RuleEffect::Deny)?;
    let why = rule.reason.clone().unwrap_or_else(|| {
        format!(
            "the policy denies {} with these arguments: an owner or admin can change the rule",
            question.subject.name
        )
    });
    Some(Verdict::deny(named(rule), format!("{why} (rule `{}`)", rule.name)))
}

/// A plan is always put to a person; no rule and no standing answer speaks for it.
pub(super) fn plan_itself(question: &Question<'_>) -> Option<Verdict> {
    (question.subject.name == PLAN_CREATE).then(|| Verdict::Ask {
        rule: "plan".to_owned(),
        reason: "a plan takes effect when a person approves it".to_owned(),
        terms: question.policy.document.approval.clone(),
    })
}

pub(super) fn always_ask_rules(question: &Question<'_>) -> Option<Verdict> {
    first(question, RuleEffect::AlwaysAsk).map(|rule| ask_by(question, rule))
}

pub(super) fn drift(question: &Question<'_>) -> Option<Verdict> {
    let harmless = question.subject.effect == Effect::Read;
    (question.plan == PlanStanding::Drift && !harmless).then(|| Verdict::Ask {
        rule: "plan.drift".to_owned(),
        reason: format!(
            "{} with these arguments is not in the plan that was approved, so it is asked about by itself",
            question.subject.name
        ),
        terms: question.policy.document.approval.clone(),
    })
}

pub(super) fn ask_rules(question: &Question<'_>) -> Option<Verdict> {
    let rule = first(question, RuleEffect::Ask)?;
    Some(covered(question).unwrap_or_else(|| ask_by(question, rule)))
}

pub(super) fn allow_rules(question: &Question<'_>) -> Option<Verdict> {
    first(question, RuleEffect::Allow).map(|rule| Verdict::allow(named(rule)))
}

pub(super) fn own_question(question: &Question<'_>) -> Option<Verdict> {
    question.subject.asks_approval.then(|| {
        covered(question).unwrap_or_else(|| Verdict::Ask {
            rule: "capability.asks_approval".to_owned(),
            reason: format!("{} asks a person before it runs", question.subject.name),
            terms: question.policy.document.approval.clone(),
        })
    })
}

/// An answer that was given before: with the plan, or to stand.
fn covered(question: &Question<'_>) -> Option<Verdict> {
    if let PlanStanding::Granted { step } = &question.plan {
        return Some(Verdict::allow(format!("plan.{step}")));
    }
    let subject = &question.subject;
    let standing = question.policy.standing.values().find(|standing| {
        let input = if standing.is_exact() { question.input } else { question.completed };
        standing.covers(subject.name, subject.version, input)
    })?;
    Some(Verdict::allow(format!("standing.{}", standing.standing_approval_id)))
}

fn ask_by(question: &Question<'_>, rule: &Rule) -> Verdict {
    let why = rule
        .reason
        .clone()
        .unwrap_or_else(|| format!("the policy asks about {} with these arguments", question.subject.name));
    let terms = rule.approval.as_ref().unwrap_or(&question.policy.document.approval);
    Verdict::Ask { rule: named(rule), reason: why, terms: terms.clone() }
}

fn first<'a>(question: &Question<'a>, effect: RuleEffect) -> Option<&'a Rule> {
    let fits = |rule: &&Rule| rule.effect == effect && rule.fits(question.subject.name, question.completed);
    question.policy.document.rules.iter().find(fits)
}

fn named(rule: &Rule) -> String {
    format!("rules.{}", rule.name)
}
