use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::policy::TermsRefusal;
use crate::role::Role;

fn step(id: &str, code: &str, depends_on: &[&str]) -> PlanStep {
    PlanStep {
        id: id.to_owned(),
        summary: "compute".to_owned(),
        intent: String::new(),
        capability: Some("agent.code.execute".to_owned()),
        input: Some(json!({"language": "python", "code": code})),
        depends_on: depends_on.iter().map(|name| (*name).to_owned()).collect(),
    }
}

const DEADLINE: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;

fn proposed() -> Plan {
    proposed_on(ApprovalTerms::default())
}

fn proposed_on(terms: ApprovalTerms) -> Plan {
    let spec = PlanSpec {
        plan_id: PlanId::default(),
        call_id: call(1),
        turn_id: TurnId::default(),
        conversation_id: ConversationId::default(),
        title: "Two numbers".to_owned(),
        rationale: None,
        requested_by: UserId::default(),
        terms,
    };
    let steps = vec![step("a", "1", &[]), step("b", "2", &["a"])];
    when(
        Plan::default(),
        PlanCommand::Propose { spec, steps, at: DateTime::UNIX_EPOCH, expires_at: DEADLINE },
    )
}

fn call(n: u128) -> CallId {
    CallId(Uuid::from_u128(n))
}

fn said(approve: bool) -> PlanAnswer {
    PlanAnswer { approve, by: UserId(Uuid::from_u128(5)), at: DateTime::UNIX_EPOCH, note: None }
}

fn answer(approve: bool, version: u32) -> PlanCommand {
    PlanCommand::Answer { version: Some(version), answer: said(approve), role: Role::Member }
}

fn amend(version: u32, steps: Vec<PlanStep>) -> PlanCommand {
    let (version, answer, role) = (Some(version), said(false), Role::Member);
    PlanCommand::Amend { version, steps, expires_at: DEADLINE, answer, role }
}

fn start(n: u128, code: &str) -> PlanCommand {
    let input_digest = Digest::of_canonical(&json!({"code": code, "language": "python"}));
    PlanCommand::Start { call_id: call(n), capability: "agent.code.execute".to_owned(), input_digest }
}

fn when(mut plan: Plan, command: PlanCommand) -> Plan {
    plan.decide(command).unwrap().into_iter().for_each(|event| plan.evolve(event));
    plan
}

#[test]
fn a_plan_grants_exactly_its_calls_each_once_and_only_when_approved() {
    assert_eq!(proposed().decide(start(7, "1")), Ok(vec![]), "not before it is approved");
    let approved = when(proposed(), answer(true, 1));
    let running = when(approved, start(7, "1"));
    assert_eq!((running.status_of("a"), running.status_of("b")), (StepStatus::Running, StepStatus::Pending));
    assert_eq!(running.decide(start(8, "1")), Ok(vec![]), "the step is used up");
    assert_eq!(running.decide(start(8, "3")), Ok(vec![]), "not in the plan");
    let ended = PlanCommand::End { step_id: "a".to_owned(), call_id: call(7), status: StepStatus::Failed };
    assert_eq!(when(running, ended).status_of("a"), StepStatus::Failed);
}

#[test]
fn an_amended_plan_wants_an_answer_again_and_grants_nothing_meanwhile() {
    let running = when(when(proposed(), answer(true, 1)), start(7, "1"));
    let steps = vec![step("a", "1", &[]), step("b", "changed", &["a"])];
    let amend = amend(1, steps);
    let amended = when(running, amend);
    assert_eq!((amended.version, amended.status), (2, PlanStatus::Proposed));
    assert_eq!(amended.decide(start(8, "changed")), Ok(vec![]));
    assert!(!amended.is_carried_out_by("a", call(7)), "nor what was granted before");
    assert_eq!(amended.decide(answer(true, 1)), Err(PlanRefusal::OtherVersion { asked: 1, current: 2 }));
    let again = when(amended, answer(true, 2));
    assert!(again.is_carried_out_by("a", call(7)), "an unchanged step keeps its call");
    assert_eq!(when(again, start(8, "changed")).status_of("b"), StepStatus::Running);
}

#[test]
fn one_answer_decides_and_a_repeat_is_a_receipt() {
    let rejected = when(proposed(), answer(false, 1));
    assert_eq!(rejected.decide(answer(false, 1)), Ok(vec![]));
    assert_eq!(rejected.decide(answer(true, 1)), Err(PlanRefusal::Closed(PlanStatus::Rejected)));
    let gone = when(proposed(), PlanCommand::Supersede);
    assert_eq!(gone.decide(answer(true, 1)), Err(PlanRefusal::Closed(PlanStatus::Superseded)));
}

#[test]
fn several_people_approve_one_version_and_an_amended_one_anew() {
    let terms = ApprovalTerms { needed: 2, exclude_requester: true, ..ApprovalTerms::default() };
    let by = |n: u128, approve| {
        let answer = PlanAnswer { by: UserId(Uuid::from_u128(n)), ..said(approve) };
        PlanCommand::Answer { version: None, answer, role: Role::Member }
    };
    let voted = when(proposed_on(terms.clone()), by(1, true));
    assert_eq!((voted.status, voted.given()), (PlanStatus::Proposed, 1));
    assert_eq!(voted.decide(start(7, "1")), Ok(vec![]), "one is not enough");
    assert_eq!(voted.decide(by(1, true)), Ok(vec![]), "a repeat counts once");
    assert_eq!(voted.decide(by(1, false)), Err(PlanRefusal::Answered));
    let requester = PlanAnswer { by: UserId::default(), ..said(true) };
    let own = PlanCommand::Answer { version: None, answer: requester, role: Role::Member };
    assert_eq!(voted.decide(own), Err(PlanRefusal::Terms(TermsRefusal::Requester)));
    assert_eq!(when(voted.clone(), by(2, true)).status, PlanStatus::Approved);
    assert_eq!(when(voted.clone(), by(2, false)).status, PlanStatus::Rejected, "one rejection decides");
    let amended = when(voted, amend(1, vec![step("a", "1", &[])]));
    assert_eq!((amended.given(), amended.version), (0, 2), "what was approved was another version");
}

#[test]
fn the_stored_deadline_decides_when_an_answer_comes() {
    let late = PlanAnswer { at: DEADLINE, ..said(true) };
    let answer = PlanCommand::Answer { version: None, answer: late, role: Role::Member };
    let expired = when(proposed(), answer.clone());
    assert_eq!(expired.status, PlanStatus::Expired);
    assert_eq!(expired.decide(answer), Err(PlanRefusal::Closed(PlanStatus::Expired)));
    assert_eq!(
        expired.decide(amend(1, vec![step("a", "1", &[])])),
        Err(PlanRefusal::Closed(PlanStatus::Expired))
    );
    let early = PlanCommand::Expire { now: DateTime::UNIX_EPOCH };
    assert_eq!(proposed().decide(early), Ok(vec![]));
    assert_eq!(when(proposed(), PlanCommand::Expire { now: DEADLINE }).status, PlanStatus::Expired);
    let approved = when(when(proposed(), answer_now()), PlanCommand::Expire { now: DEADLINE });
    assert_eq!(approved.status, PlanStatus::Approved, "what was answered does not expire");
}

fn answer_now() -> PlanCommand {
    answer(true, 1)
}

#[test]
fn steps_that_could_never_be_done_are_flaws() {
    let pointers = |steps: &[PlanStep]| flaws(steps).into_iter().map(|flaw| flaw.pointer).collect::<Vec<_>>();
    assert_eq!(pointers(&[step("a", "1", &["z"])]), ["/steps/0/dependsOn"]);
    assert_eq!(pointers(&[step("a", "1", &[]), step("a", "2", &[])]), ["/steps/1/id"]);
    let circle = [step("a", "1", &["b"]), step("b", "2", &["a"]), step("c", "3", &[])];
    assert!(flaws(&circle)[0].expected.contains("a, b"));
    let unknown = PlanStep { capability: Some("agent.nothing".to_owned()), ..step("a", "1", &[]) };
    assert_eq!(pointers(&[unknown]), ["/steps/0/capability"]);
    let wrong = PlanStep { input: Some(json!({"language": "cobol", "code": "1"})), ..step("a", "1", &[]) };
    assert_eq!(pointers(&[wrong]), ["/steps/0/input/language"]);
    assert_eq!(pointers(&[]), ["/steps"]);
}
