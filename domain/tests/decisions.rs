//! What holds of every decision, whatever the policy, the key, the mode and the plan.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use oxagen_domain::capability::{Effect, Risk, Surface};
use oxagen_domain::policy::{
    Authority, Condition, Covers, KillSwitch, Mode, PLAN_CREATE, PlanStanding, Policy, PolicyDocument,
    Question, Rule, RuleEffect, StandingApproval, Subject, Test, Verdict, judge,
};
use oxagen_domain::{ApprovalId, Digest, KeyLimits, Right, Role, StandingApprovalId, ToolVersionId, UserId};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

const CODE: &str = "agent.code.execute";
const LIMITLESS: KeyLimits = KeyLimits { rights: None, capabilities: None, surfaces: None };
const NAMES: [&str; 6] =
    [CODE, "agent.tool.list", PLAN_CREATE, "mcp.files.read", "mcp.files.write", "agent.x"];
const PATTERNS: [&str; 6] = ["*", "agent.*", "mcp.files.*", "agent.code.execute", "mcp.*.write", "nothing"];

/// Everything that a question is made of.
#[derive(Clone, Debug)]
struct Case {
    role: Role,
    limits: KeyLimits,
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
            limits: &self.limits,
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

fn limits() -> impl Strategy<Value = KeyLimits> {
    let rights = prop::collection::btree_set(prop::sample::select(Right::ALL.to_vec()), 1..4);
    let names = prop::collection::btree_set(prop::sample::select(PATTERNS.to_vec()), 1..3)
        .prop_map(|names| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
    let surfaces = prop::sample::select(vec![Surface::Agent, Surface::Api]).prop_map(|one| [one].into());
    let limits = (prop::option::of(rights), prop::option::of(names), prop::option::of(surfaces))
        .prop_map(|(rights, capabilities, surfaces)| KeyLimits { rights, capabilities, surfaces });
    // Most keys have none.
    prop_oneof![3 => Just(LIMITLESS), 1 => limits]
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
    (parts, prop::collection::vec(condition, 0..2)).prop_map(|((effect, pattern, name), when)| {
        let (name, capability) = (format!("r{name}"), pattern.to_owned());
        Rule { name, effect, capability, when, reason: None, approval: None }
    })
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
    ((role(), limits(), mode(), surface), subject, plan, policy(), input).prop_map(
        |((role, limits, mode, surface), (name, effect, risk, asks), plan, policy, input)| Case {
            role,
            limits,
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
        case in case(), rule in a_rule(), place in 0..6_usize, standing in standing(), switch in any::<bool>(),
    ) {
        let before = freedom(&case.judge());
        let mut more = case;
        let place = place.min(more.policy.document.rules.len());
        more.policy.document.rules.insert(place, rule);
        more.policy.standing.insert(standing.standing_approval_id, standing);
        more.plan = PlanStanding::Granted { step: "s".to_owned() };
        more.policy.document.kill_switch.workspace |= switch;
        more.mode = if switch { Mode::Plan } else { more.mode };
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

    /// A key's limits let nothing more through, and what is outside them is denied.
    #[test]
    fn limits_of_a_key_only_take_away(case in case(), limits in limits()) {
        let free = Case { limits: LIMITLESS, ..case.clone() };
        let limited = Case { limits: limits.clone(), ..case };
        prop_assert!(freedom(&limited.judge()) <= freedom(&free.judge()));
        let inside = limits.reaches(limited.name) && limits.is_on(limited.surface);
        prop_assert!(inside || freedom(&limited.judge()) == 0);
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
