use crate::story::Story;
use crate::world::{World, take};
use oxagen_projections::Store;
#[tokio::test]
async fn perf() {
    let world = World::new().await;
    let mut story = Story::new();
    for _ in 0..500 { story.turn(); }
    let events = story.take();
    for chunk in events.chunks(1000) { world.journal.append(chunk.to_vec(), &[]).await.unwrap(); }
    let facts = { let mut all = vec![]; world.commit({ story.direct_call(); &mut story }).await; loop { let after = all.last().map_or(0, |f: &oxagen_domain::Fact| f.seq); let more = world.journal.read(after, 1000).await.unwrap(); if more.is_empty() { break; } all.extend(more); } all };
    async fn go(name: &str, store: &impl Store, facts: &[oxagen_domain::Fact]) {
        let t = std::time::Instant::now();
        for chunk in facts.chunks(500) { take(store, chunk).await; }
        eprintln!("{name}: {} facts, {:.0}/s", facts.len(), facts.len() as f64 / t.elapsed().as_secs_f64());
    }
    go("postgres", &world.postgres(), &facts).await;
    go("clickhouse", &world.clickhouse().await, &facts).await;
    go("neo4j", &world.neo4j().await, &facts).await;
    world.end().await;
}
