//! The decision point: what each step says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use oxagen_domain::capability::{Surface, catalog, with_defaults};
use oxagen_domain::policy::{
    ApprovalTerms, Authority, Condition, Covers, Mode, PlanStanding, Policy, PolicyCommand, PolicyDocument,
    PolicyRefusal, Question, Rule, RuleEffect, StandingApproval, Test, explain, judge,
};
use oxagen_domain::{ApprovalId, Digest, Entity, KeyLimits, Role, StandingApprovalId, ToolVersionId, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

const CODE: &str = "agent.code.execute";
const LIMITLESS: KeyLimits = KeyLimits { rights: None, capabilities: None, surfaces: None };

fn enabled() -> Policy {
    let mut policy = Policy::default();
    policy.document.enabled.insert(CODE.to_owned());
    policy
}

fn rule(name: &str, effect: RuleEffect, capability: &str, when: Vec<Condition>) -> Rule {
    let (name, capability) = (name.to_owned(), capability.to_owned());
    Rule { name, effect, capability, when, reason: None, approval: None }
}

fn decide(
    policy: &Policy,
    authority: Authority,
    plan: PlanStanding,
    input: &Value,
) -> (&'static str, String) {
    let capability = catalog::find(CODE).unwrap();
    let completed = with_defaults(capability, input);
    let subject = capability.into();
    let question = Question {
        authority,
        limits: &LIMITLESS,
        surface: Surface::Agent,
        subject,
        input,
        completed: &completed,
        plan,
        policy,
    };
    let verdict = judge(&question);
    (verdict.word(), verdict.rule().to_owned())
}

fn run(policy: &Policy, input: &Value) -> (&'static str, String) {
    decide(policy, Authority { role: Role::Member, mode: Mode::Act }, PlanStanding::NoPlan, input)
}

fn python() -> Value {
    json!({"language": "python", "code": "1"})
}

fn said(word: &'static str, rule: &str) -> (&'static str, String) {
    (word, rule.to_owned())
}

#[test]
fn high_risk_is_denied_until_enabled_and_then_asks() {
    assert_eq!(run(&Policy::default(), &python()), said("deny", "allowlist"));
    assert_eq!(run(&enabled(), &python()), said("ask", "capability.asks_approval"));
    let viewer = Authority { role: Role::Viewer, mode: Mode::Act };
    assert_eq!(decide(&enabled(), viewer, PlanStanding::NoPlan, &python()), said("deny", "role"));
}

#[test]
fn limits_of_the_tier_are_refused_by_name() {
    let long = json!({"language": "python", "code": "1", "timeoutMs": 60_000});
    assert_eq!(run(&enabled(), &long), said("deny", "tier.timeout"));
    let online = json!({"language": "python", "code": "1", "network": "allow"});
    assert_eq!(run(&enabled(), &online), said("deny", "sandbox.network"));
    let mut free = enabled();
    free.document.tier = "free".to_owned();
    assert_eq!(run(&free, &long), said("deny", "tier.risk"));
}

#[test]
fn deny_goes_before_ask_and_ask_before_allow_whatever_their_order() {
    let mut policy = enabled();
    let python_only =
        Condition { pointer: "/language".to_owned(), test: Test::Equals, value: json!("python") };
    policy.document.rules = vec![
        rule("free", RuleEffect::Allow, "agent.*", vec![]),
        rule("look", RuleEffect::Ask, "*", vec![]),
        rule("never", RuleEffect::Deny, "agent.code.?xecute", vec![python_only]),
    ];
    assert_eq!(run(&policy, &python()), said("deny", "rules.never"));
    let shell = json!({"language": "shell", "code": "1"});
    assert_eq!(run(&policy, &shell), said("ask", "rules.look"));
    policy.document.rules.remove(1);
    assert_eq!(run(&policy, &shell), said("allow", "rules.free"));
}

#[test]
fn what_is_left_out_is_compared_by_its_default() {
    let mut policy = enabled();
    let long = Condition { pointer: "/timeoutMs".to_owned(), test: Test::Above, value: json!(10_000) };
    policy.document.rules = vec![rule("short", RuleEffect::Deny, CODE, vec![long])];
    assert_eq!(run(&policy, &python()), said("deny", "rules.short"));
}

#[test]
fn a_standing_approval_covers_its_arguments_and_no_others() {
    let mut policy = enabled();
    let tool = catalog::find(CODE).unwrap();
    let standing = StandingApproval {
        standing_approval_id: StandingApprovalId(Uuid::from_u128(7)),
        covers: Covers::Exact { capability: CODE.to_owned(), input_digest: Digest::of_canonical(&python()) },
        tool_version_id: tool.version_id(),
        approval_id: ApprovalId::default(),
        made_by: UserId::default(),
        made_at: chrono::DateTime::UNIX_EPOCH,
    };
    policy.standing.insert(standing.standing_approval_id, standing.clone());
    let named = format!("standing.{}", standing.standing_approval_id);
    assert_eq!(run(&policy, &python()), said("allow", &named));
    assert_eq!(run(&policy, &json!({"language": "python", "code": "2"})).0, "ask");
    policy.document.rules = vec![rule("look", RuleEffect::Ask, "*", vec![])];
    assert_eq!(run(&policy, &python()), said("allow", &named));
    policy.document.rules = vec![rule("look", RuleEffect::AlwaysAsk, "*", vec![])];
    assert_eq!(run(&policy, &python()), said("ask", "rules.look"));

    let changed = StandingApproval { tool_version_id: ToolVersionId(Uuid::from_u128(1)), ..standing.clone() };
    policy.document.rules.clear();
    policy.standing.insert(standing.standing_approval_id, changed);
    assert_eq!(run(&policy, &python()).0, "ask", "another version of the tool is asked about again");
}

#[test]
fn an_approved_plan_grants_its_calls_and_holds_every_other() {
    let member = Authority { role: Role::Member, mode: Mode::Act };
    let granted = PlanStanding::Granted { step: "compute".to_owned() };
    let mut policy = enabled();
    assert_eq!(decide(&policy, member, granted.clone(), &python()), said("allow", "plan.compute"));
    policy.document.rules = vec![rule("free", RuleEffect::Allow, "*", vec![])];
    assert_eq!(decide(&policy, member, PlanStanding::Drift, &python()), said("ask", "plan.drift"));
    policy.document.rules = vec![rule("always", RuleEffect::AlwaysAsk, "*", vec![])];
    assert_eq!(decide(&policy, member, granted.clone(), &python()), said("ask", "rules.always"));
    policy.document.kill_switch.workspace = true;
    assert_eq!(decide(&policy, member, granted, &python()), said("deny", "kill_switch.workspace"));
}

#[test]
fn an_explanation_tells_what_was_passed_before_the_rule_that_decided() {
    let (policy, capability, input) = (enabled(), catalog::find(CODE).unwrap(), python());
    let question = Question {
        authority: Authority { role: Role::Member, mode: Mode::Plan },
        limits: &LIMITLESS,
        surface: Surface::Agent,
        subject: capability.into(),
        input: &input,
        completed: &input,
        plan: PlanStanding::NoPlan,
        policy: &policy,
    };
    let explained = explain(&question);
    assert_eq!((explained.decision, explained.rule.as_str()), ("deny", "plan_mode"));
    assert_eq!(explained.passed, ["role", "key", "surface", "person", "kill_switch"]);
    assert!(explained.reason.unwrap().contains("plan mode"));
}

#[test]
fn a_document_that_does_not_fit_is_refused_with_the_place() {
    let set = |document: PolicyDocument| Policy::default().decide(PolicyCommand::Set(document)).unwrap_err();
    let bad = Condition { pointer: "language".to_owned(), test: Test::Equals, value: json!(1) };
    let rules = vec![rule("a", RuleEffect::Deny, "*", vec![]), rule("b", RuleEffect::Deny, "*", vec![bad])];
    let refusal = set(PolicyDocument { rules, ..PolicyDocument::default() });
    assert!(matches!(refusal, PolicyRefusal::Flaw { pointer, .. } if pointer == "/rules/1/when/0"));
    let rules = vec![rule("a", RuleEffect::Deny, "*", vec![]), rule("a", RuleEffect::Ask, "*", vec![])];
    let refusal = set(PolicyDocument { rules, ..PolicyDocument::default() });
    assert!(matches!(refusal, PolicyRefusal::Flaw { pointer, .. } if pointer == "/rules/1/name"));
    let approval = ApprovalTerms { roles: vec![Role::Service], ..ApprovalTerms::default() };
    let refusal = set(PolicyDocument { approval, ..PolicyDocument::default() });
    assert!(refusal.to_string().contains("service"), "{refusal}");
}
