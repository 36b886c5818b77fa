//! The read models in Postgres bear repeats, however the facts are cut into batches.

use oxagen_projections::{Batch, Store, StoreError, apply_again};

use crate::story::Story;
use crate::world::{World, take};

const TABLES: &[&str] = &[
    "execution.executions",
    "execution.execution_steps",
    "execution.tool_calls",
    "execution.timers",
    "chat.conversations",
    "chat.messages",
    "agent.workspaces",
    "agent.policies",
    "agent.tools",
    "agent.tool_versions",
    "agent.tool_assignments",
    "agent.agents",
    "agent.agent_versions",
    "agent.approval_requests",
    "agent.api_keys",
];

async fn everything(world: &World) -> Vec<(&'static str, Vec<String>)> {
    let mut all = Vec::new();
    for table in TABLES {
        let rows = world.rows(table).await;
        assert!(!rows.is_empty(), "{table} is empty");
        all.push((*table, rows));
    }
    all
}

#[tokio::test]
async fn repeats_and_other_batches_give_the_same_rows() {
    let (one, other) = (World::new().await, World::new().await);
    let mut story = Story::new();
    story.turn();
    story.direct_call();
    story.doubtful_call();
    let facts = one.commit(&mut story).await;

    let store = one.postgres();
    take(&store, &facts).await;
    let rows = everything(&one).await;
    take(&store, &facts).await;
    assert_eq!(everything(&one).await, rows);

    let store = other.postgres();
    for fact in &facts {
        take(&store, std::slice::from_ref(fact)).await;
    }
    for window in facts.windows(7).rev() {
        take(&store, window).await;
    }
    assert_eq!(everything(&other).await, rows);
    assert_eq!(one.rows("execution.tool_calls").await.len(), 3);
    one.end().await;
    other.end().await;
}

#[tokio::test]
async fn late_facts_find_their_place() {
    let (one, other) = (World::new().await, World::new().await);
    let mut story = Story::new();
    story.turn();
    story.doubtful_call();
    let facts = one.commit(&mut story).await;
    take(&one.postgres(), &facts).await;
    // Every fact comes late, as if it had been a dead letter; but a block needs its message to be there.
    let (messages, rest): (Vec<_>, Vec<_>) =
        facts.into_iter().partition(|fact| fact.kind == "conversation.message_added");
    let store = other.postgres();
    for fact in messages.iter().chain(rest.iter().rev()) {
        apply_again(&store, fact).await.unwrap();
    }
    assert_eq!(everything(&other).await, everything(&one).await);
    one.end().await;
    other.end().await;
}

#[tokio::test]
async fn the_cursor_moves_by_compare_and_set() {
    let world = World::new().await;
    let facts = world.commit(&mut Story::new()).await;
    let store = world.postgres();
    let to = facts.last().unwrap().seq;
    let batch = Batch { from: 0, facts: &facts, to };
    store.apply(batch).await.unwrap();
    // Only the answer was lost: the same batch again is fine.
    store.apply(batch).await.unwrap();
    let stale = Batch { from: 0, facts: &facts[..2], to: 2 };
    let refused = store.apply(stale).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::CursorMoved { expected: 0, found, .. } if found == to),
        "{refused}"
    );
    assert_eq!(store.cursor().await.unwrap(), to);
    world.end().await;
}
