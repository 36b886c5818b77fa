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
    };
    when(Approval::default(), ApprovalCommand::Request(question))
}

fn answer(decision: Decision, by: u128, seconds: i64) -> ApprovalCommand {
    ApprovalCommand::Answer { decision, by: person(by), at: at(seconds), note: None }
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
