//! Who may do what: every capability, with the roles that may call it over the API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use oxagen_domain::KeyLimits;
use oxagen_domain::Role::{self, Admin, Member, Owner, Service, Viewer};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::{Authority, Mode, PlanStanding, Policy, Question, Verdict, judge};
use serde_json::json;

const EVERYBODY: &[Role] = &[Owner, Admin, Member, Service, Viewer];
const ACTING: &[Role] = &[Owner, Admin, Member, Service];
const ADMINISTERING: &[Role] = &[Owner, Admin];
const DECIDING: &[Role] = &[Owner, Admin, Member];

const MAY: &[(&str, &[Role])] = &[
    ("agent.turn.start", ACTING),
    ("agent.turn.read", EVERYBODY),
    ("agent.turn.cancel", ACTING),
    ("agent.conversation.list", EVERYBODY),
    ("agent.conversation.read", EVERYBODY),
    ("agent.conversation.archive", ACTING),
    ("agent.tool.list", EVERYBODY),
    ("agent.code.execute", ACTING),
    ("agent.plan.create", ACTING),
    ("agent.plan.read", EVERYBODY),
    ("agent.plan.resolve", DECIDING),
    ("agent.approval.list", EVERYBODY),
    ("agent.approval.resolve", DECIDING),
    ("agent.history.read", EVERYBODY),
    ("agent.policy.read", EVERYBODY),
    ("agent.policy.set", ADMINISTERING),
];

#[test]
fn every_capability_is_open_to_its_roles_and_to_no_other() {
    let mut policy = Policy::default();
    policy.document.enabled.insert("agent.code.execute".to_owned());
    let input = json!({"language": "python", "code": "1"});
    let listed: Vec<_> = MAY.iter().map(|(name, _)| *name).collect();
    let known: Vec<_> = catalog::CATALOG.iter().map(|capability| capability.name).collect();
    assert_eq!(listed, known);
    for (name, roles) in MAY {
        let capability = catalog::find(name).unwrap();
        for role in EVERYBODY.iter().copied() {
            let question = Question {
                authority: Authority { role, mode: Mode::Act },
                limits: &KeyLimits::default(),
                surface: Surface::Api,
                subject: capability.into(),
                input: &input,
                completed: &input,
                plan: PlanStanding::NoPlan,
                policy: &policy,
            };
            let refused = matches!(judge(&question), Verdict::Deny { rule, .. } if rule == "role");
            assert_eq!(!refused, roles.contains(&role), "{name} called by {role:?}");
        }
    }
}
