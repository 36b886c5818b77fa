//! Reading: filters, walls between workspaces, replay from a time.

use oxagen_domain::{ConversationId, TurnId};
use oxagen_journal::{FactFilter, NewEvent};
use serde_json::json;
use uuid::Uuid;

use crate::base::{Base, at, event, scope, with};

fn story() -> Vec<NewEvent> {
    let mut events = vec![
        event("a", 1),
        event("a", 2),
        with("b", 1, "tool_call.held", json!({"type": "held"})),
        with("b", 2, "tool_call.completed", json!({"type": "completed"})),
        event("c", 1),
    ];
    for (event, seconds) in events.iter_mut().zip(0..) {
        event.metadata.occurred_at = at(seconds);
    }
    events[1].metadata.turn = None;
    events[2].metadata.conversation = Some(ConversationId(Uuid::from_u128(30)));
    events[3].metadata.turn = Some(TurnId(Uuid::from_u128(40)));
    events[4].metadata.scope = scope(100);
    events
}

#[tokio::test]
async fn a_filter_narrows_and_a_workspace_is_a_wall() {
    let base = Base::new().await;
    base.journal.append(story(), &[]).await.unwrap();
    assert_eq!(base.journal.head().await.unwrap(), 0);
    base.number().await;
    assert_eq!(base.journal.head().await.unwrap(), 5);

    let seqs = async |filter: FactFilter, after: u64| {
        let facts = base.journal.page(scope(1), &filter, after, 100).await.unwrap();
        facts.iter().map(|fact| fact.seq).collect::<Vec<_>>()
    };
    let all = FactFilter::default;
    assert_eq!(seqs(all(), 0).await, [1, 2, 3, 4]);
    assert_eq!(seqs(all(), 2).await, [3, 4]);
    let conversation = ConversationId(Uuid::from_u128(30));
    assert_eq!(seqs(FactFilter { conversation: Some(conversation), ..all() }, 0).await, [3]);
    assert_eq!(seqs(FactFilter { turn: Some(TurnId(Uuid::from_u128(40))), ..all() }, 0).await, [4]);
    let aggregate = Some(("workspace".to_owned(), "a".to_owned()));
    assert_eq!(seqs(FactFilter { aggregate, ..all() }, 0).await, [1, 2]);
    let kinds = |kinds: &[&str]| kinds.iter().map(|&kind| kind.to_owned()).collect();
    assert_eq!(seqs(FactFilter { kinds: kinds(&["tool_call.*"]), ..all() }, 0).await, [3, 4]);
    let both = kinds(&["tool_call.held", "workspace.*"]);
    assert_eq!(seqs(FactFilter { kinds: both, ..all() }, 0).await, [1, 2, 3]);
    assert_eq!(seqs(FactFilter { kinds: kinds(&["tool_call"]), ..all() }, 0).await, [0_u64; 0]);
    assert_eq!(seqs(FactFilter { since: Some(at(2)), until: Some(3), ..all() }, 0).await, [3]);

    let facts = base.journal.conversation(scope(1), conversation, 0, 10).await.unwrap();
    assert_eq!(facts.len(), 1);
    assert_eq!(base.journal.conversation(scope(100), conversation, 0, 10).await.unwrap(), []);
    assert_eq!(base.journal.read(3, 1).await.unwrap()[0].seq, 4);
    base.close().await;
}

#[tokio::test]
async fn a_replay_from_a_time_begins_at_the_first_fact_then() {
    let base = Base::new().await;
    assert_eq!(base.journal.seq_at(at(0)).await.unwrap(), 1);
    base.journal.append(story(), &[]).await.unwrap();
    base.number().await;
    assert_eq!(base.journal.seq_at(at(-9)).await.unwrap(), 1);
    assert_eq!(base.journal.seq_at(at(3)).await.unwrap(), 4);
    assert_eq!(base.journal.seq_at(at(9)).await.unwrap(), 6);
    base.close().await;
}

#[tokio::test]
async fn a_fact_is_what_was_appended() {
    let base = Base::new().await;
    let told = event("a", 1);
    base.journal.append(vec![told.clone()], &[]).await.unwrap();
    base.number().await;
    let fact = base.journal.read(0, 1).await.unwrap().remove(0);
    assert_eq!(fact.payload, json!({"name": "first"}));
    assert_eq!(fact.scope(), told.metadata.scope);
    assert_eq!(fact.conversation_id, told.metadata.conversation);
    assert_eq!(fact.turn_id, told.metadata.turn);
    assert_eq!(fact.actor, told.metadata.actor);
    assert_eq!(fact.occurred_at, told.metadata.occurred_at);
    assert!(fact.event().unwrap().is_some());
    base.close().await;
}
