//! The projector: one is active, another takes over, and what a store refuses does not hold up the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oxagen_domain::Fact;
use oxagen_jetstream::topology::{self, Settings};
use oxagen_projections::{Batch, Handle, Projector, Store, StoreError, apply_again};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::story::Story;
use crate::world::{World, soon, take};

struct Running {
    handle: Handle,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start<S: Store>(projector: Projector<S>) -> Self {
        let (handle, stop) = (projector.handle(), CancellationToken::new());
        let task = tokio::spawn(projector.run(stop.clone()));
        Self { handle, stop, task }
    }

    async fn reaches(&mut self, seq: u64) {
        soon(self.handle.until(|status| status.cursor >= seq)).await.unwrap();
    }

    async fn stop(self) {
        self.stop.cancel();
        soon(self.task).await.unwrap();
    }
}

#[tokio::test]
async fn all_stores_follow_and_go_on_after_a_restart() {
    let world = World::new().await;
    let mut story = Story::new();
    story.turn();
    let facts = world.commit(&mut story).await;
    world.publish().await;
    let head = facts.last().unwrap().seq;
    // Stopped in the middle: the first half is in already.
    take(&world.postgres(), &facts[..facts.len() / 2]).await;

    let mut postgres = Running::start(world.projector(world.postgres()));
    let mut clickhouse = Running::start(world.projector(world.clickhouse().await));
    let mut neo4j = Running::start(world.projector(world.neo4j().await));
    for running in [&mut postgres, &mut clickhouse, &mut neo4j] {
        running.reaches(head).await;
        assert_eq!(running.handle.degraded(), None);
    }
    clickhouse.stop().await;

    story.turn();
    let head = world.commit(&mut story).await.last().unwrap().seq;
    world.publish().await;
    postgres.reaches(head).await;
    neo4j.reaches(head).await;
    let mut clickhouse = Running::start(world.projector(world.clickhouse().await));
    clickhouse.reaches(head).await;
    let queries = world.queries().await;
    for projection in ["postgres", "clickhouse", "neo4j"] {
        assert_eq!(queries.cursor(projection).await.unwrap(), head, "{projection}");
    }
    assert_eq!(world.rows("execution.tool_calls").await.len(), 2);
    for running in [postgres, clickhouse, neo4j] {
        running.stop().await;
    }
    world.end().await;
}

#[tokio::test]
async fn one_is_active_and_another_takes_over() {
    let world = World::new().await;
    let head = world.commit(&mut Story::new()).await.last().unwrap().seq;
    world.publish().await;
    let mut first = Running::start(world.projector(world.postgres()));
    first.reaches(head).await;
    let mut second = Running::start(world.projector(world.postgres()));
    assert!(!second.handle.status().active);

    let head = world.commit(&mut Story::new()).await.last().unwrap().seq;
    world.publish().await;
    first.reaches(head).await;
    first.stop().await;
    soon(second.handle.until(|status| status.active && status.cursor == head)).await.unwrap();
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn who_loses_its_session_is_not_active_any_more() {
    const KILL: &str = "
        select count(pg_terminate_backend(pid)) from pg_locks
        where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())";
    let world = World::new().await;
    let head = world.commit(&mut Story::new()).await.last().unwrap().seq;
    world.publish().await;
    let mut first = Running::start(world.projector(world.postgres()));
    first.reaches(head).await;
    let mut second = Running::start(world.projector(world.postgres()));
    let killed: i64 = sqlx::query_scalar(KILL).fetch_one(&mut world.connection().await).await.unwrap();
    assert!(killed >= 1);
    soon(first.handle.until(|status| !status.active)).await.unwrap();

    let head = world.commit(&mut Story::new()).await.last().unwrap().seq;
    world.publish().await;
    tokio::select! {
        () = first.reaches(head) => {}
        () = second.reaches(head) => {}
    }
    assert_eq!(world.rows("agent.workspaces").await.len(), 2);
    first.stop().await;
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_the_stream_has_lost_comes_from_the_journal() {
    let world = World::new().await;
    let mut story = Story::new();
    story.turn();
    let head = world.commit(&mut story).await.last().unwrap().seq;
    // A stream made again begins after facts that it never had.
    topology::remake(&world.bus, head + topology::GIVEN_AGAIN, Settings::default()).await.unwrap();
    let mut running = Running::start(world.projector(world.postgres()));
    running.reaches(head).await;
    assert_eq!(world.rows("execution.tool_calls").await.len(), 1);
    running.stop().await;
    world.end().await;
}

/// A store that can be away, lose answers, or refuse one fact.
struct Odd<S> {
    store: S,
    away: Arc<AtomicBool>,
    loses_answer: AtomicBool,
    refuses: Option<u64>,
}

impl<S> Odd<S> {
    fn new(store: S) -> Self {
        Self { store, away: Arc::default(), loses_answer: AtomicBool::new(false), refuses: None }
    }
}

impl<S: Store> Store for Odd<S> {
    fn name(&self) -> &'static str {
        self.store.name()
    }

    async fn prepare(&self) -> Result<(), StoreError> {
        self.store.prepare().await
    }

    async fn cursor(&self) -> Result<u64, StoreError> {
        self.store.cursor().await
    }

    async fn apply(&self, batch: Batch<'_>) -> Result<(), StoreError> {
        let away =
            |cause: &str| StoreError::Unavailable { store: self.store.name(), cause: cause.to_owned() };
        if self.away.load(Ordering::SeqCst) {
            return Err(away("gone for lunch"));
        }
        if batch.facts.iter().any(|fact| Some(fact.seq) == self.refuses) {
            let cause = "not to my taste".to_owned();
            return Err(StoreError::Refused { store: self.store.name(), cause });
        }
        self.store.apply(batch).await?;
        // Every other time.
        if self.loses_answer.fetch_not(Ordering::SeqCst) { Err(away("the answer got lost")) } else { Ok(()) }
    }
}

#[tokio::test]
async fn an_outage_is_waited_for_and_nothing_is_lost() {
    let world = World::new().await;
    let mut story = Story::new();
    let store = Odd::new(world.postgres());
    let away = Arc::clone(&store.away);
    away.store(true, Ordering::SeqCst);
    let mut running = Running::start(world.projector(store));
    let mut other = Running::start(world.projector(world.clickhouse().await));
    story.turn();
    let head = world.commit(&mut story).await.last().unwrap().seq;
    world.publish().await;
    soon(running.handle.until(|status| status.trouble.is_some())).await.unwrap();
    assert_eq!(running.handle.degraded().unwrap(), "postgres is unavailable: gone for lunch");
    // The other store does not wait for this one.
    other.reaches(head).await;
    away.store(false, Ordering::SeqCst);
    running.reaches(head).await;
    assert_eq!(running.handle.degraded(), None);
    assert_eq!(world.rows("execution.tool_calls").await.len(), 1);
    running.stop().await;
    other.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_lost_answer_is_no_loss_and_no_repeat() {
    let world = World::new().await;
    let mut story = Story::new();
    let postgres = Odd { loses_answer: AtomicBool::new(true), ..Odd::new(world.postgres()) };
    let clickhouse = Odd { loses_answer: AtomicBool::new(true), ..Odd::new(world.clickhouse().await) };
    let neo4j = Odd { loses_answer: AtomicBool::new(true), ..Odd::new(world.neo4j().await) };
    let mut all = [
        Running::start(world.projector(postgres)),
        Running::start(world.projector(clickhouse)),
        Running::start(world.projector(neo4j)),
    ];
    for _ in 0..3 {
        story.turn();
        let head = world.commit(&mut story).await.last().unwrap().seq;
        world.publish().await;
        for running in &mut all {
            running.reaches(head).await;
        }
    }
    assert_eq!(world.rows("execution.tool_calls").await.len(), 3);
    assert_eq!(crate::clickhouse::count(&world, "tool_invocations_final").await, 3);
    assert_eq!(crate::graph::count(story.scope, "(e:Execution)-[:INVOKED]->(:ToolVersion)").await, 3);
    for running in all {
        assert_eq!(running.handle.degraded(), None);
        running.stop().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_refused_fact_is_buried_and_may_be_mended_later() {
    let world = World::new().await;
    let mut story = Story::new();
    story.turn();
    let facts = world.commit(&mut story).await;
    let head = facts.last().unwrap().seq;
    world.publish().await;
    let is_refused = |fact: &&Fact| fact.kind == "agent.created";
    let refused = facts.iter().find(is_refused).unwrap();
    let store = Odd { refuses: Some(refused.seq), ..Odd::new(world.postgres()) };
    let mut running = Running::start(world.projector(store));
    running.reaches(head).await;
    soon(running.handle.until(|status| status.dead_letters == 1)).await.unwrap();
    assert!(running.handle.degraded().unwrap().contains("1 facts were given up on"));
    let letter = world.journal.dead_letters().show("projector-postgres", refused.seq).await.unwrap().unwrap();
    assert_eq!((letter.attempts, letter.error.as_str()), (5, "not to my taste"));
    assert_eq!(world.rows("execution.tool_calls").await.len(), 1);
    assert_eq!(world.rows("agent.agents where name is not null").await.len(), 0);

    apply_again(&world.postgres(), refused).await.unwrap();
    assert_eq!(world.rows("agent.agents where name is not null").await.len(), 1);
    assert_eq!(world.queries().await.agents(story.scope).await.unwrap().len(), 1);
    running.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_store_made_from_another_journal_is_left_alone() {
    let world = World::new().await;
    let facts = world.commit(&mut Story::new()).await;
    let (to, store) = (facts.last().unwrap().seq + 100, world.postgres());
    store.apply(Batch { from: 0, facts: &[], to }).await.unwrap();
    let mut running = Running::start(world.projector(store));
    let status = soon(running.handle.until(|status| status.trouble.is_some())).await.unwrap();
    assert!(status.trouble.unwrap().contains("it was made from another journal"));
    running.stop().await;
    world.end().await;
}
