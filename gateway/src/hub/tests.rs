use oxagen_domain::{Actor, CallId, ConversationId, TenantId, WorkspaceId};
use serde_json::json;
use uuid::Uuid;

use super::*;

fn scope(n: u128) -> Scope {
    Scope { tenant: TenantId(Uuid::from_u128(1)), workspace: WorkspaceId(Uuid::from_u128(n)) }
}

fn conversation(n: u128) -> ConversationId {
    ConversationId(Uuid::from_u128(n))
}

fn fact(seq: u64, scope: Scope, conversation: Option<ConversationId>) -> Fact {
    Fact {
        seq,
        event_id: Uuid::from_u128(seq.into()),
        kind: "tool_call.held".to_owned(),
        version: 1,
        aggregate_type: "tool_call".to_owned(),
        aggregate_id: Uuid::from_u128(77).to_string(),
        aggregate_version: 1,
        tenant_id: scope.tenant,
        workspace_id: scope.workspace,
        conversation_id: conversation,
        turn_id: None,
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: chrono::DateTime::UNIX_EPOCH,
        payload: json!({}),
    }
}

async fn seqs(subscription: &mut Subscription, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        match subscription.next().await {
            Some(Item::Fact(passing)) => seqs.push(passing.fact.seq),
            Some(Item::Frame(_)) | None => break,
        }
    }
    seqs
}

#[tokio::test]
async fn a_viewer_sees_its_topic_and_nothing_else() {
    let hub = Hub::new();
    hub.begin(0);
    let mut talk = hub.subscribe(Topic::Conversation(scope(1), conversation(5)), 0);
    let mut space = hub.subscribe(Topic::Workspace(scope(1)), 0);
    let mut call = hub.subscribe(Topic::Call(scope(1), CallId(Uuid::from_u128(77))), 0);
    hub.publish_facts(vec![
        fact(1, scope(1), Some(conversation(5))),
        fact(2, scope(2), Some(conversation(5))),
        fact(3, scope(1), Some(conversation(6))),
        fact(4, scope(1), Some(conversation(5))),
    ]);
    assert_eq!(seqs(&mut talk, 2).await, [1, 4]);
    assert_eq!(seqs(&mut space, 3).await, [1, 3, 4]);
    assert_eq!(seqs(&mut call, 3).await, [1, 3, 4]);
}

#[tokio::test]
async fn the_ring_gives_what_was_missed_and_says_when_it_does_not_go_back_so_far() {
    let hub = Hub::new();
    hub.begin(10);
    hub.publish_facts((11..=14).map(|seq| fact(seq, scope(1), Some(conversation(seq.into())))).collect());
    let back = hub.subscribe(Topic::Workspace(scope(1)), 12);
    let missed: Vec<_> = back.recent.as_ref().unwrap().iter().map(|passing| passing.fact.seq).collect();
    assert_eq!((missed, back.head), (vec![13, 14], 14));
    assert!(hub.subscribe(Topic::Workspace(scope(1)), 9).recent.is_none());
    assert_eq!(hub.subscribe(Topic::Workspace(scope(2)), 10).recent.as_ref().map(Vec::len), Some(0));
}

#[tokio::test]
async fn who_is_slow_is_cut_off_after_what_was_kept_and_disturbs_nobody() {
    let hub = Hub::new();
    hub.begin(0);
    let mut slow = hub.subscribe(Topic::Workspace(scope(1)), 0);
    for seq in 1..=(QUEUE as u64 + 5) {
        hub.publish_facts(vec![fact(seq, scope(1), None)]);
    }
    let mut fresh = hub.subscribe(Topic::Workspace(scope(1)), 0);
    hub.publish_facts(vec![fact(QUEUE as u64 + 6, scope(1), None)]);
    assert_eq!(seqs(&mut slow, QUEUE).await.len(), QUEUE);
    assert!(slow.next().await.is_none());
    assert_eq!(seqs(&mut fresh, 1).await, [QUEUE as u64 + 6]);
}

#[tokio::test]
async fn who_leaves_is_forgotten() {
    let hub = Hub::new();
    hub.begin(0);
    drop(hub.subscribe(Topic::Workspace(scope(1)), 0));
    assert!(hub.lock().watchers.is_empty());
}
