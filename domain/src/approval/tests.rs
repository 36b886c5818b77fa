use serde_json::json;
use uuid::Uuid;

use super::*;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn person(n: u128) -> UserId {
    UserId(Uuid::from_u128(n))
}

fn open() -> Approval {
    let input = json!({"code": "1"});
    let question = ApprovalQuestion {
        approval_id: ApprovalId::default(),
        call_id: CallId::default(),
        execution_step_id: StepId::default(),
        capability: "agent.code.execute".to_owned(),
        input_digest: Digest::of_canonical(&input),
        input: Body::Inline(input),
        risk: Risk::High,
        rule: "capability.asks_approval".to_owned(),
        requested_by: person(1),
        expires_at: at(60),
        reason: None,
        terms: ApprovalTerms::default(),
        asked_before: 0,
    };
    when(Approval::default(), ApprovalCommand::Request(question))
}

fn answer(decision: Decision, by: u128, seconds: i64) -> ApprovalCommand {
    ApprovalCommand::Answer(given(decision, by, seconds))
}

fn given(decision: Decision, by: u128, seconds: i64) -> PersonsAnswer {
    let (by, at, role) = (person(by), at(seconds), Role::Member);
    PersonsAnswer { decision, by, role, at, note: None, edited: None }
}

fn on_terms(terms: ApprovalTerms) -> Approval {
    let question = ApprovalQuestion { terms, ..open().question.unwrap() };
    when(Approval::default(), ApprovalCommand::Request(question))
}

fn when(mut approval: Approval, command: ApprovalCommand) -> Approval {
    approval.decide(command).unwrap().into_iter().for_each(|event| approval.evolve(event));
    approval
}

#[test]
fn a_repeat_is_a_receipt_and_anything_else_a_conflict() {
    let approved = when(open(), answer(Decision::Approve, 1, 1));
    assert_eq!(approved.decide(answer(Decision::Approve, 1, 2)), Ok(vec![]));
    for other in [answer(Decision::Deny, 1, 2), answer(Decision::Approve, 2, 2), answer(Decision::Deny, 2, 2)]
    {
        assert!(matches!(approved.decide(other), Err(ApprovalRefusal::Closed(_))));
    }
}

#[test]
fn the_stored_deadline_decides_before_any_timer() {
    let late = when(open(), answer(Decision::Approve, 1, 60));
    assert_eq!(late.resolution, Some(Resolution::Expired));
    assert!(matches!(late.decide(answer(Decision::Approve, 1, 61)), Err(ApprovalRefusal::Closed(_))));
}

#[test]
fn a_timer_that_rings_early_changes_nothing() {
    assert_eq!(open().decide(ApprovalCommand::Expire { now: at(59) }), Ok(vec![]));
    assert_eq!(when(open(), ApprovalCommand::Expire { now: at(60) }).resolution, Some(Resolution::Expired));
}

#[test]
fn an_approval_that_was_superseded_takes_no_answer() {
    let superseded = when(open(), ApprovalCommand::Supersede);
    assert!(matches!(superseded.decide(answer(Decision::Approve, 1, 1)), Err(ApprovalRefusal::Closed(_))));
}

#[test]
fn several_people_decide_together_and_one_denial_is_enough() {
    let open = on_terms(ApprovalTerms { needed: 2, ..ApprovalTerms::default() });
    let first = when(open, answer(Decision::Approve, 2, 1));
    assert_eq!((first.resolution.clone(), first.given()), (None, 1));
    assert_eq!(
        first.decide(answer(Decision::Approve, 2, 2)),
        Ok(vec![]),
        "a repeat gets a receipt and counts once"
    );
    let changed = first.decide(answer(Decision::Deny, 2, 2));
    assert_eq!(changed, Err(ApprovalRefusal::Answered(Decision::Approve)));
    let approved = when(first.clone(), answer(Decision::Approve, 3, 3));
    assert!(matches!(approved.resolution, Some(Resolution::Answered { decision: Decision::Approve, .. })));
    assert_eq!(approved.decide(answer(Decision::Approve, 2, 9)), Ok(vec![]), "the first one's receipt, too");
    assert!(matches!(approved.decide(answer(Decision::Approve, 4, 9)), Err(ApprovalRefusal::Closed(_))));
    let denied = when(first, answer(Decision::Deny, 3, 3));
    assert!(matches!(denied.resolution, Some(Resolution::Answered { decision: Decision::Deny, .. })));
}

#[test]
fn the_requester_and_other_roles_can_be_left_out() {
    let terms =
        ApprovalTerms { exclude_requester: true, roles: vec![Role::Owner], ..ApprovalTerms::default() };
    let open = on_terms(terms);
    assert_eq!(
        open.decide(answer(Decision::Approve, 1, 1)),
        Err(ApprovalRefusal::Terms(TermsRefusal::Requester))
    );
    let refused = open.decide(answer(Decision::Approve, 2, 1)).unwrap_err();
    assert!(refused.to_string().contains("it wants owner"), "{refused}");
    let owner = PersonsAnswer { role: Role::Owner, ..given(Decision::Approve, 2, 1) };
    assert!(when(open, ApprovalCommand::Answer(owner)).resolution.is_some());
}

#[test]
fn an_edited_approval_is_told_from_another() {
    let edited = |code: &str| {
        let input = json!({"code": code});
        let input_digest = Digest::of_canonical(&input);
        let edited = Some(EditedInput { input: Body::Inline(input), input_digest });
        ApprovalCommand::Answer(PersonsAnswer { edited, ..given(Decision::Approve, 1, 1) })
    };
    let approved = when(open(), edited("2"));
    assert_eq!(approved.decide(edited("2")), Ok(vec![]));
    assert!(matches!(approved.decide(edited("3")), Err(ApprovalRefusal::Closed(_))));
    assert!(matches!(approved.decide(answer(Decision::Approve, 1, 2)), Err(ApprovalRefusal::Closed(_))));
    let two = on_terms(ApprovalTerms { needed: 2, ..ApprovalTerms::default() });
    assert_eq!(two.decide(edited("2")), Err(ApprovalRefusal::EditedByMany(2)));
}
