//! F30: many commands on one aggregate at once.

use futures::future::join_all;
use oxagen_commands::{Code, StartTurn};
use oxagen_domain::{Conversation, OnBusy};

use crate::base::{Base, message, workspace};

#[tokio::test]
async fn f30_a_hundred_commands_from_two_instances_lose_nothing() {
    let base = Base::new().await;
    let first = base.commands.start_turn(&base.owner, message("hello")).await.unwrap();
    let posts = (0..100).map(|n| {
        let commands = if n % 2 == 0 { &base.commands } else { &base.second };
        let conversation_id = Some(first.conversation_id);
        let post =
            StartTurn { conversation_id, on_busy: OnBusy::Enqueue, ..message(&format!("message {n}")) };
        commands.start_turn(&base.owner, post)
    });
    for posted in join_all(posts).await {
        posted.unwrap();
    }
    let id = first.conversation_id.to_string();
    let conversation = base.commands.journal().load::<Conversation>(&id).await.unwrap();
    assert_eq!((conversation.state.queue.len(), conversation.version), (100, 102));
}

#[tokio::test]
async fn f30_a_refusal_stays_a_refusal_when_others_are_faster() {
    let base = Base::new().await;
    let first = base.commands.start_turn(&base.owner, message("hello")).await.unwrap();
    let posts = (0..20).map(|_| {
        let post = StartTurn { conversation_id: Some(first.conversation_id), ..message("me too") };
        base.commands.start_turn(&base.owner, post)
    });
    for refused in join_all(posts).await {
        assert_eq!(refused.unwrap_err().code, Code::ConversationBusy);
    }
}

#[tokio::test]
async fn a_conversation_of_another_workspace_does_not_exist() {
    let base = Base::new().await;
    let first = base.commands.start_turn(&base.owner, message("hello")).await.unwrap();
    let stranger = workspace(&base.commands).await;
    let post = StartTurn { conversation_id: Some(first.conversation_id), ..message("let me in") };
    assert_eq!(base.commands.start_turn(&stranger, post).await.unwrap_err().code, Code::NotFound);
    let cancelled = base.commands.cancel_turn(&stranger, first.turn_id, "no".to_owned()).await;
    assert_eq!(cancelled.unwrap_err().code, Code::NotFound);
}
