//! The graph: one edge per call, however many write it at once.

use neo4rs::{Graph, query};
use oxagen_domain::Scope;
use oxagen_projections::{Batch, Store, StoreError};

use crate::story::Story;
use crate::world::{World, take, variable};

pub(crate) async fn count(scope: Scope, pattern: &str) -> i64 {
    let (url, user, password) = (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
    let graph = Graph::new(url, user, password).unwrap();
    let count = format!("MATCH {pattern} WHERE e.workspace = $workspace RETURN count(*) AS count");
    let mut rows =
        graph.execute(query(&count).param("workspace", scope.workspace.to_string())).await.unwrap();
    rows.next().await.unwrap().unwrap().get("count").unwrap()
}

#[tokio::test]
async fn a_repeat_changes_no_edge_and_a_late_result_changes_it_in_place() {
    let world = World::new().await;
    let mut story = Story::new();
    story.turn();
    story.direct_call();
    story.doubtful_call();
    let facts = world.commit(&mut story).await;
    let store = world.neo4j().await;
    for fact in &facts {
        take(&store, std::slice::from_ref(fact)).await;
    }
    for window in facts.windows(9).rev() {
        take(&store, window).await;
    }
    let scope = story.scope;
    assert_eq!(count(scope, "(e:Execution)-[:INVOKED]->(:ToolVersion)").await, 3);
    assert_eq!(count(scope, "(e:Execution)-[:INVOKED {status: 'completed'}]->(:ToolVersion)").await, 3);
    assert_eq!(count(scope, "(e:Execution {kind: 'turn'})-[:APPROVED_BY]->(:User)").await, 1);
    assert_eq!(count(scope, "(e:ToolVersion)").await, 1);
    assert_eq!(world.queries().await.cursor("neo4j").await.unwrap(), facts.last().unwrap().seq);
    world.end().await;
}

#[tokio::test]
async fn many_at_once_make_one_edge_per_call() {
    let world = World::new().await;
    let mut story = Story::new();
    let calls = 20;
    for _ in 0..calls {
        story.direct_call();
    }
    let facts = world.commit(&mut story).await;
    let store = world.neo4j().await;
    let from = store.cursor().await.unwrap();
    let writers = (0..8).map(|writer| {
        // Half of them in the other order, so that their locks meet.
        let mut mine = facts.clone();
        if writer % 2 == 1 {
            mine.reverse();
        }
        let store = store.clone();
        tokio::spawn(async move {
            for chunk in mine.chunks(25) {
                while let Err(error) = store.apply(Batch { from, facts: chunk, to: from }).await {
                    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(count(story.scope, "(e:Execution)-[:INVOKED]->(:ToolVersion)").await, calls);
    assert_eq!(count(story.scope, "(e:Execution)").await, calls);
    world.end().await;
}
