//! F44: the same `Idempotency-Key` gives the same thing.

use futures::future::join_all;
use oxagen_commands::{Code, StartTurn};
use oxagen_domain::Conversation;

use crate::base::{Base, message, python, workspace};

fn keyed(text: &str) -> StartTurn {
    StartTurn { idempotency_key: Some("order-7".to_owned()), ..message(text) }
}

#[tokio::test]
async fn f44_twenty_at_once_make_one_turn() {
    let base = Base::new().await;
    let asked = (0..20).map(|n| {
        let commands = if n % 2 == 0 { &base.commands } else { &base.second };
        commands.start_turn(&base.owner, keyed("hello"))
    });
    let receipts: Vec<_> = join_all(asked).await.into_iter().map(Result::unwrap).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]));
    let id = receipts[0].conversation_id.to_string();
    let conversation = base.commands.journal().load::<Conversation>(&id).await.unwrap();
    assert_eq!(conversation.state.parents.len(), 2, "one message and one answer");
}

#[tokio::test]
async fn f44_another_body_is_refused_and_another_tenant_is_separate() {
    let base = Base::new().await;
    let first = base.commands.start_turn(&base.owner, keyed("hello")).await.unwrap();
    let reused = base.commands.start_turn(&base.owner, keyed("goodbye")).await.unwrap_err();
    assert_eq!(reused.code, Code::IdempotencyKeyReused);
    let stranger = workspace(&base.commands).await;
    let other = base.commands.start_turn(&stranger, keyed("hello")).await.unwrap();
    assert_ne!(first.turn_id, other.turn_id);
}

#[tokio::test]
async fn f44_a_repeat_in_a_busy_conversation_is_no_second_message() {
    let base = Base::new().await;
    let first = base.commands.start_turn(&base.owner, message("hello")).await.unwrap();
    let again = StartTurn {
        conversation_id: Some(first.conversation_id),
        on_busy: oxagen_domain::OnBusy::Enqueue,
        ..keyed("and another thing")
    };
    let queued = base.commands.start_turn(&base.owner, again.clone()).await.unwrap();
    assert_eq!(base.second.start_turn(&base.owner, again).await.unwrap(), queued);
}

#[tokio::test]
async fn f44_a_call_outside_a_turn_is_made_once() {
    let base = Base::new().await;
    let call = || oxagen_commands::RequestCall { idempotency_key: Some("k".to_owned()), ..python("deny") };
    let made = join_all((0..10).map(|_| base.commands.request_call(&base.owner, call()))).await;
    let ids: Vec<_> = made.into_iter().map(|receipt| receipt.unwrap().call_id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    let mut changed = call();
    changed.input["code"] = "print(2)".into();
    let reused = base.commands.request_call(&base.owner, changed).await.unwrap_err();
    assert_eq!(reused.code, Code::IdempotencyKeyReused);
}
