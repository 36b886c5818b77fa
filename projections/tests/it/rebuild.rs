//! Building again from the journal, while it is written and read (F33).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use neo4rs::{Graph, query};
use oxagen_projections::rebuild::{Change, Progress, Rebuild, RebuildError, Rebuilt};
use oxagen_projections::{Projector, Store};
use sqlx::{Connection, Executor};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::story::Story;
use crate::verify::verify;
use crate::world::{World, clickhouse_client, soon, superuser, superusers, take, variable};

/// Somebody who has it all rebuilt and hears nothing of it.
fn deaf(_: Progress) {}

/// A rebuild by somebody whose predecessor may just have died: the server lets go of his lock a moment later.
async fn rebuilt<S: Rebuild>(world: &World, store: &S) -> Rebuilt {
    soon(async {
        loop {
            match store.rebuild(&world.journal, &deaf).await {
                Err(RebuildError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
                done => return done.unwrap(),
            }
        }
    })
    .await
}

async fn assert_equal(world: &World) {
    let report = verify(world).await;
    assert!(report.is_equal() && report.is_complete(), "{report:#?}");
}

/// A workspace with some history, in every store.
async fn told(world: &World) -> Story {
    let mut story = Story::new();
    for _ in 0..3 {
        story.turn();
        story.direct_call();
    }
    story.doubtful_call();
    let facts = world.commit(&mut story).await;
    world.publish().await;
    take(&world.postgres(), &facts).await;
    take(&world.clickhouse().await, &facts).await;
    take(&world.neo4j().await, &facts).await;
    story
}

/// Breaks each store in each way.
async fn broken(world: &World, story: &Story) {
    let mut connection = superuser(&world.name).await;
    for sql in [
        "delete from execution.tool_calls where turn_id is not null",
        "update chat.messages set blocks = '[]' where role = 'assistant'",
        "update execution.execution_steps set sequence = 1000000, status = 'lost'",
        "insert into agent.agents (tenant_id, workspace_id, id, name, sequence)
         select tenant_id, workspace_id, gen_random_uuid(), 'nobody', 1 from agent.agents limit 1",
    ] {
        assert!(connection.execute(sql).await.unwrap().rows_affected() > 0, "{sql}");
    }
    connection.close().await.unwrap();
    let client = clickhouse_client().with_database(&world.name);
    for sql in [
        "delete from tool_invocations where turn_id is not null",
        "alter table token_usage update model = 'other' where 1 settings mutations_sync = 1",
        "insert into events select * replace (generateUUIDv4() as event_id) from events limit 1",
    ] {
        client.query(sql).execute().await.unwrap();
    }
    let (url, user, password) = (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
    let graph = Graph::new(url, user, password).unwrap();
    for cypher in [
        "MATCH (e:Execution)-[a:APPROVED_BY]->() WHERE e.workspace = $workspace DELETE a",
        "MATCH (e:Execution)-[i:INVOKED]->() WHERE e.workspace = $workspace SET i.status = 'lost', i.latencyMs = 0",
        "MATCH (e:Execution)-[i:INVOKED]->(v) WHERE e.workspace = $workspace WITH e, v LIMIT 1
         CREATE (e)-[:INVOKED {callId: randomUUID(), sequence: 1}]->(v)",
    ] {
        graph.run(query(cypher).param("workspace", story.scope.workspace.to_string())).await.unwrap();
    }
    assert!(verify(world).await.differing >= 9);
}

fn change(rebuilt: &Rebuilt, table: &str) -> (u64, u64) {
    let Change { removed, written, .. } = rebuilt.tables.iter().find(|change| change.table == table).unwrap();
    (*removed, *written)
}

#[tokio::test]
async fn what_was_broken_is_as_if_built_from_scratch() {
    let world = World::new().await;
    let mut story = told(&world).await;
    broken(&world, &story).await;
    let head = world.journal.head().await.unwrap();

    let postgres = rebuilt(&world, &world.postgres()).await;
    assert_eq!((postgres.cursor, postgres.refused.as_slice()), (head, [].as_slice()));
    assert_eq!(change(&postgres, "execution.tool_calls"), (0, 3));
    assert_eq!(change(&postgres, "chat.messages"), (3, 3));
    assert_eq!(change(&postgres, "agent.agents"), (1, 0));
    assert_eq!(change(&postgres, "agent.tools"), (0, 0));
    let clickhouse = rebuilt(&world, &world.clickhouse().await).await;
    assert_eq!(change(&clickhouse, "tool_invocations"), (0, 3));
    assert_eq!(change(&clickhouse, "token_usage"), (6, 6));
    assert_eq!(change(&clickhouse, "events"), (1, 0));
    let neo4j = rebuilt(&world, &world.neo4j().await).await;
    assert_eq!((change(&neo4j, "INVOKED"), change(&neo4j, "APPROVED_BY")), ((1, 0), (0, 0)));
    assert_equal(&world).await;

    // The walls stand, and projecting goes on from where it was.
    assert_eq!(world.queries().await.agents(story.scope).await.unwrap().len(), 1);
    story.turn();
    let all = world.commit(&mut story).await;
    world.publish().await;
    let new = &all[head as usize..];
    take(&world.postgres(), new).await;
    take(&world.clickhouse().await, new).await;
    take(&world.neo4j().await, new).await;
    assert_equal(&world).await;
    world.end().await;
}

#[tokio::test]
async fn an_empty_history_gives_empty_stores() {
    let world = World::new().await;
    for rebuilt in [
        rebuilt(&world, &world.postgres()).await,
        rebuilt(&world, &world.clickhouse().await).await,
        rebuilt(&world, &world.neo4j().await).await,
    ] {
        assert_eq!(rebuilt.cursor, 0);
        assert!(
            rebuilt.tables.iter().all(|change| (change.removed, change.written) == (0, 0)),
            "{rebuilt:?}"
        );
    }
    told(&world).await;
    assert_equal(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_second_one_is_told_and_another_journal_is_refused() {
    async fn one<S: Rebuild + Clone>(world: &World, store: S) {
        let (first, journal) = (store.clone(), world.journal.clone());
        let begun = Arc::new(Notify::new());
        let told = Arc::clone(&begun);
        let task = tokio::spawn(async move {
            let tell = move |_: Progress| told.notify_one();
            first.rebuild(&journal, &tell).await
        });
        soon(begun.notified()).await;
        if !task.is_finished() {
            match store.rebuild(&world.journal, &deaf).await {
                Err(error @ RebuildError::Busy { .. }) => {
                    assert!(error.to_string().contains(store.name()), "{error}")
                }
                // The first one was done in time.
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            }
        }
        soon(task).await.unwrap().unwrap();
    }
    let world = World::new().await;
    told(&world).await;
    one(&world, world.postgres()).await;
    one(&world, world.clickhouse().await).await;
    one(&world, world.neo4j().await).await;
    assert_equal(&world).await;

    let mut connection = superuser(&world.name).await;
    connection.execute("update projection.cursors set seq = 1000000").await.unwrap();
    let refused = world.postgres().rebuild(&world.journal, &deaf).await.unwrap_err();
    assert!(matches!(refused, RebuildError::OtherJournal { cursor: 1_000_000, .. }), "{refused}");
    connection.close().await.unwrap();
    world.end().await;
}

/// Counts something over and over; it must never become less.
struct Watch {
    stop: CancellationToken,
    looks: Arc<AtomicU64>,
    shrank: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Watch {
    fn start<F: Future<Output = u64> + Send>(mut count: impl FnMut() -> F + Send + 'static) -> Self {
        let (stop, looks, shrank) =
            (CancellationToken::new(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (told, looked, less) = (stop.clone(), Arc::clone(&looks), Arc::clone(&shrank));
        let task = tokio::spawn(async move {
            let mut most = 0;
            while !told.is_cancelled() {
                let now = count().await;
                less.fetch_or(now < most, Ordering::SeqCst);
                most = most.max(now);
                looked.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { stop, looks, shrank, task }
    }

    async fn end(self, what: &str) {
        self.stop.cancel();
        soon(self.task).await.unwrap();
        assert!(self.looks.load(Ordering::SeqCst) > 0, "nobody read {what}");
        assert!(!self.shrank.load(Ordering::SeqCst), "readers of {what} saw less than before");
    }
}

#[tokio::test]
async fn readers_and_writers_go_on_and_who_is_killed_midway_does_no_harm() {
    let world = World::new().await;
    let (story, other) = (told(&world).await, Story::new());
    let tenants = [story.scope.tenant.to_string(), other.scope.tenant.to_string()];
    let (postgres, clickhouse, neo4j) = (world.postgres(), world.clickhouse().await, world.neo4j().await);
    let stop = CancellationToken::new();
    let mut projectors = Vec::new();
    let mut handles = Vec::new();
    let mut project = |projector: (oxagen_projections::Handle, JoinHandle<()>)| {
        handles.push(projector.0);
        projectors.push(projector.1);
    };
    project(start(world.projector(postgres.clone()), &stop));
    project(start(world.projector(clickhouse.clone()), &stop));
    project(start(world.projector(neo4j.clone()), &stop));

    let watches = [
        ("Postgres", watch_postgres(&world).await),
        ("ClickHouse", watch_clickhouse(&world)),
        ("Neo4j", watch_neo4j(tenants)),
    ];
    let writer = write(&world, other, &stop);
    for place in [1, 2] {
        killed_midway(&world, &postgres, place).await;
        killed_midway(&world, &clickhouse, place).await;
        killed_midway(&world, &neo4j, place).await;
        rebuilt(&world, &postgres).await;
        rebuilt(&world, &clickhouse).await;
        rebuilt(&world, &neo4j).await;
    }
    stop.cancel();
    let written = soon(writer).await.unwrap();
    assert!(written > 0);
    for (what, watch) in watches {
        watch.end(what).await;
    }
    for projector in projectors {
        soon(projector).await.unwrap();
    }

    // All that was written is projected, once.
    let head = world.journal.head().await.unwrap();
    world.publish().await;
    let stop = CancellationToken::new();
    for (mut handle, task) in [
        start(world.projector(postgres), &stop),
        start(world.projector(clickhouse), &stop),
        start(world.projector(neo4j), &stop),
    ] {
        soon(handle.until(|status| status.cursor >= head)).await.unwrap();
        assert_eq!(handle.degraded(), None);
        drop(task);
    }
    assert_equal(&world).await;
    assert_eq!(crate::clickhouse::count(&world, "events_final").await, head);
    stop.cancel();
    world.end().await;
}

fn start<S: Store>(
    projector: Projector<S>,
    stop: &CancellationToken,
) -> (oxagen_projections::Handle, JoinHandle<()>) {
    (projector.handle(), tokio::spawn(projector.run(stop.clone())))
}

/// More than 50 facts a second, until it is told to stop; gives the length of history.
fn write(world: &World, mut story: Story, stop: &CancellationToken) -> JoinHandle<u64> {
    let (world, stop) = (world.clone(), stop.clone());
    tokio::spawn(async move {
        let mut written = 0;
        let mut pace = tokio::time::interval(Duration::from_millis(100));
        while stop.run_until_cancelled(pace.tick()).await.is_some() {
            story.direct_call();
            story.held_turn();
            written = world.commit(&mut story).await.len() as u64;
            world.publish().await;
        }
        written
    })
}

/// Begins a rebuild and drops it when it has come up to the live projection for the n-th time: the first time nobody
/// is kept waiting, later the cursor is held.
async fn killed_midway<S: Rebuild>(world: &World, store: &S, nth: u32) {
    let (there, times) = (Notify::new(), AtomicU32::new(0));
    let tell = |Progress { at, of }: Progress| {
        if at == of && times.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            there.notify_one();
        }
    };
    tokio::select! {
        _ = store.rebuild(&world.journal, &tell) => {}
        () = there.notified() => {}
    }
}

async fn watch_postgres(world: &World) -> Watch {
    const COUNT: &str = "
        select (select count(*) from execution.tool_calls) + (select count(*) from chat.messages)
             + (select coalesce(sum(jsonb_array_length(blocks)), 0) from chat.messages)
             + (select count(*) from execution.execution_steps)";
    let pool = superusers(&world.name).await;
    Watch::start(move || {
        let pool = pool.clone();
        // A snapshot first and the tables after it, as the queries do.
        async move {
            let mut snapshot =
                pool.begin_with("begin isolation level repeatable read read only").await.unwrap();
            snapshot.execute("select 1").await.unwrap();
            let count: i64 = sqlx::query_scalar(COUNT).fetch_one(&mut *snapshot).await.unwrap();
            snapshot.commit().await.unwrap();
            count.unsigned_abs()
        }
    })
}

fn watch_clickhouse(world: &World) -> Watch {
    let client = clickhouse_client().with_database(&world.name);
    Watch::start(move || {
        let client = client.clone();
        async move {
            let count = "select count() from (select 1 from events_final union all select 1 from tool_invocations_final)";
            client.query(count).fetch_one().await.unwrap()
        }
    })
}

fn watch_neo4j(tenants: [String; 2]) -> Watch {
    let (url, user, password) = (variable("NEO4J_URL"), variable("NEO4J_USER"), variable("NEO4J_PASSWORD"));
    let graph = Graph::new(url, user, password).unwrap();
    Watch::start(move || {
        let (graph, tenants) = (graph.clone(), tenants.clone());
        async move {
            let count = "MATCH (e:Execution)-[i]->() WHERE e.tenant IN $tenants RETURN count(i) AS count";
            let mut rows = graph.execute(query(count).param("tenants", tenants.to_vec())).await.unwrap();
            let row = rows.next().await.unwrap().unwrap();
            row.get::<i64>("count").unwrap().unsigned_abs()
        }
    })
}
