//! F42: a turn in plan mode, with its plan approved, amended, rejected and its calls asked for and started in any order.
//! Nothing with an effect runs but what the version that counts was approved for, each call of it once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::plan::{Plan, PlanAnswer, PlanCommand, PlanSpec, PlanStatus, PlanStep};
use oxagen_domain::policy::{
    ApprovalTerms, Authority, Mode, PlanStanding, Policy, Question, Rule, RuleEffect, Verdict, judge,
};
use oxagen_domain::{CallId, ConversationId, Digest, Entity, KeyLimits, PlanId, Role, TurnId, UserId};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

const CODE: &str = "agent.code.execute";
/// When every version of the plan closes by itself.
const DEADLINE: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;

#[derive(Clone, Copy, Debug)]
enum Act {
    Approve { version: u32, by: u8, late: bool },
    Reject { version: u32 },
    Timer { late: bool },
    Amend { n: u8 },
    Ask { n: u8 },
    Start { nth: usize },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1..4_u32, 1..4_u8, prop::bool::weighted(0.1)).prop_map(|(version, by, late)| Act::Approve {
            version,
            by,
            late
        }),
        prop::bool::weighted(0.3).prop_map(|late| Act::Timer { late }),
        (1..4_u32).prop_map(|version| Act::Reject { version }),
        (0..4_u8).prop_map(|n| Act::Amend { n }),
        (0..4_u8).prop_map(|n| Act::Ask { n }),
        (0..6_usize).prop_map(|nth| Act::Start { nth }),
    ]
}

fn input(n: u8) -> Value {
    json!({"language": "python", "code": n.to_string()})
}

fn steps(n: u8) -> Vec<PlanStep> {
    let step = |id: &str, n: u8| PlanStep {
        id: id.to_owned(),
        summary: "run it".to_owned(),
        intent: String::new(),
        capability: Some(CODE.to_owned()),
        input: Some(input(n)),
        depends_on: vec![],
    };
    vec![step("a", 0), step("b", n)]
}

/// A call as the ledger has it: with what, and the step that was granted to it.
struct Asked {
    n: u8,
    step: Option<String>,
    ran: bool,
}

struct Story {
    mode: Mode,
    follows: bool,
    plan: Plan,
    policy: Policy,
    calls: Vec<Asked>,
}

impl Story {
    fn begin(needed: u32) -> Self {
        let spec = PlanSpec {
            plan_id: PlanId::default(),
            call_id: CallId::default(),
            turn_id: TurnId::default(),
            conversation_id: ConversationId::default(),
            title: "x".to_owned(),
            rationale: None,
            requested_by: UserId::default(),
            terms: ApprovalTerms { needed, ..ApprovalTerms::default() },
        };
        let mut policy = Policy::default();
        policy.document.enabled.insert(CODE.to_owned());
        // Even where a rule lets everything run: the plan is stricter.
        policy.document.rules.push(Rule {
            name: "go".to_owned(),
            effect: RuleEffect::Allow,
            capability: "*".to_owned(),
            when: vec![],
            reason: None,
            approval: None,
        });
        let mut story =
            Self { mode: Mode::Plan, follows: false, plan: Plan::default(), policy, calls: vec![] };
        story.tell(PlanCommand::Propose {
            spec,
            steps: steps(1),
            at: DateTime::UNIX_EPOCH,
            expires_at: DEADLINE,
        });
        story
    }

    /// Whether something happened.
    fn tell(&mut self, command: PlanCommand) -> bool {
        let events = self.plan.decide(command).unwrap_or_default();
        let happened = !events.is_empty();
        events.into_iter().for_each(|event| self.plan.evolve(event));
        happened
    }

    fn judge(&self, n: u8, plan: PlanStanding) -> Verdict {
        let input = input(n);
        judge(&Question {
            authority: Authority { role: Role::Member, mode: self.mode },
            limits: &KeyLimits::default(),
            surface: Surface::Agent,
            subject: catalog::find(CODE).unwrap().into(),
            input: &input,
            completed: &input,
            plan,
            policy: &self.policy,
        })
    }

    fn standing(&self, granted: Option<&str>) -> PlanStanding {
        match granted {
            Some(step) => PlanStanding::Granted { step: step.to_owned() },
            None if self.follows => PlanStanding::Drift,
            None => PlanStanding::NoPlan,
        }
    }

    /// As the handlers do it, in one commit each.
    fn act(&mut self, act: Act) {
        let at = |late| if late { DEADLINE } else { DateTime::UNIX_EPOCH };
        let said = |approve| PlanAnswer { approve, by: UserId::default(), at: at(false), note: None };
        match act {
            Act::Approve { version, by, late } => {
                let by = UserId(Uuid::from_u128(by.into()));
                let answer = PlanAnswer { by, at: at(late), ..said(true) };
                let voted: BTreeSet<_> = self.plan.votes.iter().map(|vote| vote.by).chain([by]).collect();
                let command = PlanCommand::Answer { version: Some(version), answer, role: Role::Member };
                if self.tell(command) && self.plan.status == PlanStatus::Approved {
                    (self.mode, self.follows) = (Mode::Act, true);
                    assert!(!late, "nobody approves after the deadline");
                    assert_eq!(
                        voted.len() as u32,
                        self.plan.spec.as_ref().unwrap().terms.needed,
                        "{voted:?}"
                    );
                }
            }
            Act::Timer { late } => {
                let open = self.plan.status == PlanStatus::Proposed;
                let closed = self.tell(PlanCommand::Expire { now: at(late) });
                assert_eq!(closed, open && late, "the deadline alone closes it, and only while it is open");
            }
            Act::Reject { version } => {
                self.tell(PlanCommand::Answer {
                    version: Some(version),
                    answer: said(false),
                    role: Role::Member,
                });
            }
            Act::Amend { n } => {
                let was_approved = self.plan.status == PlanStatus::Approved;
                let command = PlanCommand::Amend {
                    version: None,
                    steps: steps(n),
                    expires_at: DEADLINE,
                    answer: said(false),
                    role: Role::Member,
                };
                if self.tell(command) && was_approved {
                    self.mode = Mode::Plan;
                }
            }
            Act::Ask { n } => {
                let digest = Digest::of_canonical(&input(n));
                let acts = self.mode == Mode::Act && self.follows;
                let step = self.plan.grants(CODE, &digest).filter(|_| acts).map(str::to_owned);
                let verdict = self.judge(n, self.standing(step.as_deref()));
                if !matches!(verdict, Verdict::Allow { .. }) {
                    return;
                }
                let call_id = CallId(Uuid::from_u128(self.calls.len() as u128 + 1));
                if step.is_some() {
                    let capability = CODE.to_owned();
                    assert!(self.tell(PlanCommand::Start { call_id, capability, input_digest: digest }));
                }
                self.calls.push(Asked { n, step, ran: false });
            }
            Act::Start { nth } => {
                let Some(call) = self.calls.get(nth).filter(|call| !call.ran) else { return };
                let call_id = CallId(Uuid::from_u128(nth as u128 + 1));
                let step = call.step.as_deref().filter(|step| self.plan.is_carried_out_by(step, call_id));
                let verdict = self.judge(call.n, self.standing(step));
                if matches!(verdict, Verdict::Allow { .. }) {
                    assert_eq!(self.plan.status, PlanStatus::Approved, "something runs: {:?}", self.plan);
                    let planned = self.plan.steps.iter().any(|step| step.input == Some(input(call.n)));
                    assert!(planned, "what is not in the version that counts runs: {}", call.n);
                    self.calls[nth].ran = true;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn f42_nothing_runs_but_what_was_approved_each_once(acts in prop::collection::vec(act(), 0..30), needed in 1..3_u32) {
        let mut story = Story::begin(needed);
        acts.iter().for_each(|act| story.act(*act));
        let mut ran = BTreeMap::<Option<String>, u32>::new();
        for call in story.calls.iter().filter(|call| call.ran) {
            *ran.entry(call.step.clone()).or_default() += 1;
        }
        prop_assert!(!ran.contains_key(&None), "each call that ran was granted by a step");
    }
}
