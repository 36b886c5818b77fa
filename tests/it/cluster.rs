//! Three NATS nodes with three copies of each stream, under load: one is killed, and after it is back another one.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::{PeerInfo, Stream};
use async_nats::jetstream::{self, Context};
use futures::StreamExt;
use futures::future::ready;
use oxagen_tests::kill::Stack;
use oxagen_tests::{Installation, ROLES, Rows, Workspace, until, word};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::road;

/// Facts of a call that was made by hand, without a turn.
const FACTS_OF_CALL: u64 = 4;
/// One call in so long makes 500 facts a second.
const EVERY: Duration = Duration::from_millis(8);
/// How long the load goes on before a node dies, and without it.
const LEG: Duration = Duration::from_secs(3);
const NODES: [&str; 3] = ["nats", "nats-2", "nats-3"];

/// A call that is over, once more under new ids.
const COPY: &str = "
with n as materialized (select gen_random_uuid()::text as call, gen_random_uuid()::text as execution)
insert into journal.events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, occurred_at)
select e.aggregate_type, n.call, e.sequence, e.event_type, e.event_version,
  replace(replace(e.payload::text, $1, n.call), $2, n.execution)::json,
  replace(e.metadata::text, $1, n.call)::json, clock_timestamp()
from n join journal.events e on e.aggregate_type = 'tool_call' and e.aggregate_id = $1
order by e.sequence";

/// `CLUSTER_ROUNDS` asks for more than the two deaths of the short form.
fn rounds() -> usize {
    env::var("CLUSTER_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_loses_one_node_and_then_another_under_load_and_nothing_is_lost_or_counted_twice() {
    let (stack, urls) = Stack::cluster().await;
    let mut installation = Installation::new().await;
    for (name, value) in [("NATS_URL", &*urls), ("OXAGEN_NATS_REPLICAS", "3"), ("RUST_LOG", "info")] {
        installation.settings.insert(name.to_owned(), value.to_owned());
    }
    let process = installation.start(ROLES).await;
    let workspace = installation.workspace(&process.url).await;
    let urls: Vec<_> = urls.split(',').collect();
    let context = jetstream::new(async_nats::connect(urls.as_slice()).await.unwrap());
    let name = format!("{}_FACTS", installation.name);
    let stream = until("the stream", async || context.get_stream(&name).await.ok()).await;
    assert_eq!(stream.cached_info().config.num_replicas, 3);

    let stop = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn(load(installation.admin_url.clone(), workspace.clone(), Arc::clone(&stop)));
    let word = word("cluster");
    installation.model.add_scenarios(vec![road::computes(&word)]);
    let talks = tokio::spawn(talks(workspace.clone(), word, Arc::clone(&stop)));
    let mut killed = Vec::<String>::new();
    for _ in 0..rounds() {
        sleep(LEG).await;
        let victim = leader(&stream, &killed).await;
        let before = last(&stream).await;
        stack.kill(&victim).await;
        sleep(LEG).await;
        stack.start("nats").await;
        caught_up(&stream, before).await;
        killed.push(victim);
    }
    sleep(LEG).await;
    stop.store(true, Ordering::Relaxed);
    let (calls, seconds) = load.await.unwrap();
    let walked = talks.await.unwrap();

    let rows = Rows::of(&installation).await;
    let head = whole(&rows, &stream).await;
    for call in &walked {
        road::one_of_each(&rows, &workspace.tenant, call, "completed", 1).await;
    }
    counted_once(&rows, &workspace.tenant, calls + walked.len() as u64).await;
    let mut said = String::new();
    until("all stores being equal", async || {
        let verified = installation.run(&["verify"], &[]).await;
        if said != verified.stdout {
            println!("{}{}", verified.stdout, verified.stderr);
        }
        said = verified.stdout;
        (verified.code == Some(0)).then_some(())
    })
    .await;
    let pause = longest_pause(&context, &stream, head).await;
    let rate = (calls * FACTS_OF_CALL) as f64 / seconds;
    println!(
        "killed {killed:?} at {rate:.0} facts/s: the longest pause without a fact on the stream was {pause:.1?}; \
         {head} facts, {calls} calls, {} conversations",
        walked.len()
    );
    drop(process);
    stack.wipe().await;
}

/// Copies a call again and again; gives the number of calls, and how long it went on.
async fn load(admin_url: String, workspace: Workspace, stop: Arc<AtomicBool>) -> (u64, f64) {
    let body = json!({"capability": "agent.tool.list", "input": {}});
    let made = workspace.http.request(reqwest::Method::POST, "/v1/tool-calls").header("Prefer", "wait=20");
    let template = workspace.http.send(made.json(&body)).await.expect(200);
    let call = template["callId"].as_str().unwrap();
    let pool = sqlx::PgPool::connect(&admin_url).await.unwrap();
    let sql =
        "select substring(payload::text from '\"executionI[dD]\":\"([0-9a-f-]{36})\"') from journal.events
               where aggregate_id = $1 and event_type = 'tool_call.requested'";
    let execution: String = sqlx::query_scalar(sql).bind(call).fetch_one(&pool).await.unwrap();
    let (begun, mut calls, mut tick) = (Instant::now(), 1, interval(EVERY));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    while !stop.load(Ordering::Relaxed) {
        tick.tick().await;
        let copied = sqlx::query(COPY).bind(call).bind(&execution).execute(&pool).await.unwrap();
        assert_eq!(copied.rows_affected(), FACTS_OF_CALL);
        calls += 1;
    }
    (calls, begun.elapsed().as_secs_f64())
}

/// One conversation after another; gives the calls.
async fn talks(workspace: Workspace, word: String, stop: Arc<AtomicBool>) -> Vec<String> {
    let mut calls = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let walked = road::walk(&workspace, &word).await;
        let facts = workspace.facts(&walked.turn.conversation).await;
        let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
        assert_eq!(walked.events.ids(), seqs, "the screen was sent each fact once, in order");
        calls.push(walked.call);
    }
    calls
}

/// The node that leads the stream; when it has been killed already, one that has not.
async fn leader(stream: &Stream, killed: &[String]) -> String {
    let leader = until("a leader", async || stream.get_info().await.ok()?.cluster?.leader).await;
    if killed.last() != Some(&leader) {
        return leader;
    }
    NODES.iter().find(|node| **node != leader).map(|node| (*node).to_owned()).unwrap()
}

/// Every node has what the others have, and the relay goes on.
async fn caught_up(stream: &Stream, before: u64) {
    until("every node being current, and facts", async || {
        let info = stream.get_info().await.ok()?;
        let current = |peer: &&PeerInfo| peer.current && !peer.offline;
        let current = info.cluster?.replicas.iter().filter(current).count();
        (current == NODES.len() - 1 && info.state.last_sequence > before).then_some(())
    })
    .await;
}

/// The number of the last fact on the stream.
async fn last(stream: &Stream) -> u64 {
    until("the stream", async || Some(stream.get_info().await.ok()?.state.last_sequence)).await
}

/// Numbers without a gap in the journal, and all of them on the stream; gives the last one. A slow machine may have
/// much to make up for, so what is waited for is the next fact.
async fn whole(rows: &Rows, stream: &Stream) -> u64 {
    let sql = "select (select count(*) from journal.events) as events, count(*) as numbers,
               min(seq) as first, max(seq) as last from journal.sequence";
    let head = until("a number for every event", async || {
        let found = &rows.postgres(sql).await[0];
        let last = found["last"].as_u64()?;
        (*found == json!({"events": last, "numbers": last, "first": 1, "last": last})).then_some(last)
    })
    .await;
    let mut published = last(stream).await;
    while published < head {
        published = until("another fact on the stream", async || {
            let state = stream.get_info().await.ok()?.state;
            (state.last_sequence > published).then_some(state.last_sequence)
        })
        .await;
    }
    let state = stream.get_info().await.unwrap().state;
    assert_eq!((state.messages, state.last_sequence), (head, head), "the stream has each number once");
    head
}

/// So many rows, analytic rows and edges, each of another call.
async fn counted_once(rows: &Rows, tenant: &str, calls: u64) {
    let wanted = json!({"rows": calls, "calls": calls});
    let sql = format!(
        "select count(*) as rows, count(distinct id) as calls from execution.tool_calls
         where tenant_id = '{tenant}' and status = 'completed'"
    );
    until("every call in Postgres", async || (rows.postgres(&sql).await[0] == wanted).then_some(())).await;
    let sql = format!(
        "select count() as rows, uniqExact(call_id) as calls from tool_invocations_final
         where tenant_id = '{tenant}' and status = 'completed'"
    );
    until("every call in ClickHouse", async || (rows.clickhouse(&sql).await[0] == wanted).then_some(()))
        .await;
    let cypher = "MATCH (:Execution {tenant: $tenant})-[i:INVOKED {status: 'completed'}]->(:ToolVersion)
                  RETURN count(i) AS rows, count(DISTINCT i.callId) AS calls";
    until("every call in Neo4j", async || {
        let found = rows.neo4j(cypher, tenant).await;
        (json!(found[0]) == wanted).then_some(())
    })
    .await;
}

/// The longest time between two facts, as the server that took them noted it.
async fn longest_pause(context: &Context, stream: &Stream, head: u64) -> Duration {
    let name = &stream.cached_info().config.name;
    let (mut last, mut longest, mut seq) = (None, Duration::ZERO, 0);
    while seq < head {
        // A run that breaks off is gone on with from where it came to.
        let some = until("some of the facts", async || {
            let config = pull::Config {
                deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: seq + 1 },
                ack_policy: AckPolicy::None,
                memory_storage: true,
                ..pull::Config::default()
            };
            let consumer = context.create_consumer_on_stream(config, name).await.ok()?;
            let messages = consumer.fetch().max_messages(5_000).messages().await.ok()?;
            let some: Vec<_> =
                messages.take_while(|it| ready(it.is_ok())).filter_map(|it| ready(it.ok())).collect().await;
            Some(some).filter(|some| !some.is_empty())
        })
        .await;
        for message in some {
            let info = message.info().unwrap();
            seq += 1;
            assert_eq!(info.stream_sequence, seq, "a fact that is not there, or twice");
            let at = SystemTime::from(info.published);
            longest = longest.max(at.duration_since(last.unwrap_or(at)).unwrap_or_default());
            last = Some(at);
        }
    }
    longest
}
