//! Answers to approvals: one decision, whoever comes when.

use futures::future::join_all;
use oxagen_commands::{Answer, Code};
use oxagen_domain::{ApprovalId, Decision};

use crate::base::{Base, python, workspace};

fn answer(decision: Decision) -> Answer {
    Answer::plain(decision, Some("because".to_owned()))
}

async fn held(base: &Base) -> ApprovalId {
    let receipt = base.commands.request_call(&base.owner, python("deny")).await.unwrap();
    assert_eq!(receipt.status, "held");
    receipt.approval_id.unwrap()
}

#[tokio::test]
async fn f11_twenty_approvals_at_once_are_one_decision_with_one_receipt() {
    let base = Base::new().await;
    let id = held(&base).await;
    let answers = (0..20).map(|_| base.commands.resolve_approval(&base.owner, id, answer(Decision::Approve)));
    let receipts: Vec<_> = join_all(answers).await.into_iter().map(Result::unwrap).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]));
}

#[tokio::test]
async fn f11_approve_and_deny_at_once_leave_one_decision_and_a_conflict_that_names_it() {
    let base = Base::new().await;
    let id = held(&base).await;
    let (yes, no) = futures::join!(
        base.commands.resolve_approval(&base.owner, id, answer(Decision::Approve)),
        base.second.resolve_approval(&base.owner, id, answer(Decision::Deny)),
    );
    let refused = match (yes, no) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        both => panic!("exactly one must count: {both:?}"),
    };
    assert_eq!(refused.code, Code::ApprovalClosed);
    assert!(refused.detail.unwrap()["resolvedAt"].is_string());
}

#[tokio::test]
async fn an_approval_of_another_workspace_does_not_exist() {
    let base = Base::new().await;
    let id = held(&base).await;
    let stranger = workspace(&base.commands).await;
    let refused = base.commands.resolve_approval(&stranger, id, answer(Decision::Approve)).await.unwrap_err();
    assert_eq!(refused.code, Code::NotFound);
}
