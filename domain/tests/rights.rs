//! Who may do what: every capability, with the roles that may call it over the API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use oxagen_domain::Role::{self, Admin, Member, Owner, Service, Viewer};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::{PolicyDocument, Question, Verdict, judge};
use serde_json::json;

const EVERYBODY: &[Role] = &[Owner, Admin, Member, Service, Viewer];
const ACTING: &[Role] = &[Owner, Admin, Member, Service];
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
    ("agent.approval.list", EVERYBODY),
    ("agent.approval.resolve", DECIDING),
    ("agent.history.read", EVERYBODY),
];

#[test]
fn every_capability_is_open_to_its_roles_and_to_no_other() {
    let policy = PolicyDocument { enabled: ["agent.code.execute".to_owned()].into(), ..Default::default() };
    let input = json!({"language": "python", "code": "1"});
    let listed: Vec<_> = MAY.iter().map(|(name, _)| *name).collect();
    let known: Vec<_> = catalog::CATALOG.iter().map(|capability| capability.name).collect();
    assert_eq!(listed, known);
    for (name, roles) in MAY {
        let capability = catalog::find(name).unwrap();
        for role in EVERYBODY.iter().copied() {
            let question =
                Question { role, surface: Surface::Api, capability, input: &input, policy: &policy };
            let refused = matches!(judge(&question), Verdict::Deny { rule: "role", .. });
            assert_eq!(!refused, roles.contains(&role), "{name} called by {role:?}");
        }
    }
}
