//! The decision point: what each step says, and what holds of every decision whatever the policy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use oxagen_domain::capability::{Effect, Risk, Surface, catalog, with_defaults};
use oxagen_domain::policy::{
    ApprovalTerms, Authority, Condition, Covers, KillSwitch, Mode, PLAN_CREATE, PlanStanding, Policy,
    PolicyCommand, PolicyDocument, PolicyRefusal, Question, Rule, RuleEffect, StandingApproval, Subject,
    Test, Verdict, explain, judge,
};
use oxagen_domain::{ApprovalId, Digest, Entity, Right, Role, StandingApprovalId, ToolVersionId, UserId};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

const CODE: &str = "agent.code.execute";

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
    let question =
        Question { authority, surface: Surface::Agent, subject, input, completed: &completed, plan, policy };
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
        surface: Surface::Agent,
        subject: capability.into(),
        input: &input,
        completed: &input,
        plan: PlanStanding::NoPlan,
        policy: &policy,
    };
    let explained = explain(&question);
    assert_eq!((explained.decision, explained.rule.as_str()), ("deny", "plan_mode"));
    assert_eq!(explained.passed, ["role", "surface", "person", "kill_switch"]);
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

const NAMES: [&str; 6] =
    [CODE, "agent.tool.list", PLAN_CREATE, "mcp.files.read", "mcp.files.write", "agent.x"];
const PATTERNS: [&str; 6] = ["*", "agent.*", "mcp.files.*", "agent.code.execute", "mcp.*.write", "nothing"];

/// Everything that a question is made of.
#[derive(Clone, Debug)]
struct Case {
    role: Role,
    mode: Mode,
    surface: Surface,
    name: &'static str,
    effect: Effect,
    risk: Risk,
    asks: bool,
    plan: PlanStanding,
    policy: Policy,
    input: Value,
}

impl Case {
    fn judge(&self) -> Verdict {
        let subject = Subject {
            name: self.name,
            version: ToolVersionId::default(),
            effect: self.effect,
            risk: self.risk,
            asks_approval: self.asks,
            right: if self.effect == Effect::Read { Right::Read } else { Right::Act },
            surfaces: &[Surface::Agent, Surface::Api],
        };
        judge(&Question {
            authority: Authority { role: self.role, mode: self.mode },
            surface: self.surface,
            subject,
            input: &self.input,
            completed: &self.input,
            plan: self.plan.clone(),
            policy: &self.policy,
        })
    }
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(vec![Role::Owner, Role::Admin, Role::Member, Role::Viewer, Role::Service])
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Plan, Mode::Act])
}

fn a_rule() -> impl Strategy<Value = Rule> {
    let effects = vec![RuleEffect::Deny, RuleEffect::AlwaysAsk, RuleEffect::Ask, RuleEffect::Allow];
    let condition = (prop::sample::select(vec![Test::Equals, Test::NotEquals, Test::Exists]), 0..3_i64)
        .prop_map(|(test, value)| Condition {
            pointer: "/n".to_owned(),
            test,
            value: if test == Test::Exists { json!(value == 0) } else { json!(value) },
        });
    let parts = (prop::sample::select(effects), prop::sample::select(PATTERNS.to_vec()), any::<u16>());
    (parts, prop::collection::vec(condition, 0..2))
        .prop_map(|((effect, pattern, name), when)| rule(&format!("r{name}"), effect, pattern, when))
}

fn standing() -> impl Strategy<Value = StandingApproval> {
    (prop::sample::select(PATTERNS.to_vec()), any::<bool>(), 0..3_i64, any::<u128>()).prop_map(
        |(pattern, exact, n, id)| StandingApproval {
            standing_approval_id: StandingApprovalId(Uuid::from_u128(id)),
            covers: if exact {
                Covers::Exact {
                    capability: CODE.to_owned(),
                    input_digest: Digest::of_canonical(&json!({"n": n})),
                }
            } else {
                Covers::Pattern { capability: pattern.to_owned(), when: vec![] }
            },
            tool_version_id: ToolVersionId::default(),
            approval_id: ApprovalId::default(),
            made_by: UserId::default(),
            made_at: chrono::DateTime::UNIX_EPOCH,
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    let switch = (prop::bool::weighted(0.1), prop::bool::weighted(0.2), prop::bool::weighted(0.2)).prop_map(
        |(workspace, code, files)| KillSwitch {
            workspace,
            capabilities: if code { BTreeSet::from(["agent.c*".to_owned()]) } else { BTreeSet::new() },
            mcp_servers: if files { BTreeSet::from(["files".to_owned()]) } else { BTreeSet::new() },
            cancel: false,
        },
    );
    let enabled = prop::collection::btree_set(prop::sample::select(NAMES.to_vec()), 0..5);
    let tier = prop::sample::select(vec!["free", "team", "enterprise"]);
    let rules = prop::collection::vec(a_rule(), 0..5);
    (tier, enabled, rules, switch, prop::collection::vec(standing(), 0..3)).prop_map(
        |(tier, enabled, rules, kill_switch, standing)| Policy {
            document: PolicyDocument {
                tier: tier.to_owned(),
                enabled: enabled.into_iter().map(str::to_owned).collect(),
                rules,
                kill_switch,
                ..PolicyDocument::default()
            },
            standing: standing.into_iter().map(|one| (one.standing_approval_id, one)).collect(),
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let plan = prop::sample::select(vec![
        PlanStanding::NoPlan,
        PlanStanding::Drift,
        PlanStanding::Granted { step: "s".to_owned() },
    ]);
    let subject = (
        prop::sample::select(NAMES.to_vec()),
        prop::sample::select(vec![Effect::Read, Effect::Write, Effect::External]),
        prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]),
        any::<bool>(),
    );
    let surface = prop::sample::select(vec![Surface::Agent, Surface::Api]);
    let input = (0..3_i64, any::<bool>()).prop_map(|(n, code)| {
        if code { json!({"language": "python", "code": "1", "n": n}) } else { json!({"n": n}) }
    });
    ((role(), mode(), surface), subject, plan, policy(), input).prop_map(
        |((role, mode, surface), (name, effect, risk, asks), plan, policy, input)| Case {
            role,
            mode,
            surface,
            name,
            effect,
            risk,
            asks,
            plan,
            policy,
            input,
        },
    )
}

/// How much a decision lets through.
fn freedom(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Deny { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Allow { .. } => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// What is denied stays denied, whatever rule, standing approval, kill switch or plan is added.
    #[test]
    fn a_denial_is_undone_by_nothing_that_is_added(
        case in case(), rule in a_rule(), place in 0..6_usize, standing in standing(),
    ) {
        let before = freedom(&case.judge());
        let mut more = case;
        let place = place.min(more.policy.document.rules.len());
        more.policy.document.rules.insert(place, rule);
        more.policy.standing.insert(standing.standing_approval_id, standing);
        more.plan = PlanStanding::Granted { step: "s".to_owned() };
        prop_assert!(before > 0 || freedom(&more.judge()) == 0, "{:?}", more.judge());
    }

    /// A rule that denies or asks never lets more through than there was without it.
    #[test]
    fn a_stricter_rule_lets_nothing_more_through(case in case(), rule in a_rule(), place in 0..6_usize) {
        let effect = if rule.effect == RuleEffect::Allow { RuleEffect::Ask } else { rule.effect };
        let rule = Rule { effect, ..rule };
        let before = freedom(&case.judge());
        let mut more = case;
        let place = place.min(more.policy.document.rules.len());
        more.policy.document.rules.insert(place, rule);
        prop_assert!(freedom(&more.judge()) <= before, "{:?}", more.judge());
    }

    /// A child never does what its parent may not.
    #[test]
    fn a_child_never_exceeds_its_parent(case in case(), role in role(), mode in mode()) {
        let parent = Authority { role: case.role, mode: case.mode };
        let wanted = Authority { role, mode };
        let child = wanted.within(parent);
        let of = |authority: Authority| freedom(&Case { role: authority.role, mode: authority.mode, ..case.clone() }.judge());
        prop_assert!(of(child) <= of(parent));
        prop_assert!(of(child) <= of(wanted), "nor what it would not have been allowed by itself");
        prop_assert_eq!(child.within(parent), child);
    }

    /// Plan mode lets nothing but reading and the plan itself through.
    #[test]
    fn f42_in_plan_mode_nothing_runs_but_reading_and_the_plan(case in case()) {
        let case = Case { mode: Mode::Plan, surface: Surface::Agent, ..case };
        let verdict = case.judge();
        prop_assert!(
            freedom(&verdict) == 0 || case.effect == Effect::Read || case.name == PLAN_CREATE,
            "{verdict:?}"
        );
        prop_assert!(freedom(&verdict) < 2 || case.name != PLAN_CREATE, "a plan is put to a person: {verdict:?}");
    }

    /// A kill switch stops what it names, whatever else the policy says, except a person's own acts.
    #[test]
    fn a_kill_switch_goes_before_everything(case in case()) {
        let mut case = Case { surface: Surface::Agent, ..case };
        case.policy.document.kill_switch.workspace = true;
        prop_assert_eq!(freedom(&case.judge()), 0);
    }
}
