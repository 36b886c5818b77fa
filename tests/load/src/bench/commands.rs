//! Commands at a steady rate: how soon a screen shows them, and how far behind the stores are meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use oxagen_tests::Workspace;
use reqwest::Method;
use serde_json::json;
use sqlx::Row;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Baselines;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::{Sample, rate};

/// Commands a second that are asked for.
const RATE: u64 = 500;
const LONG: Duration = Duration::from_secs(6);
/// Commands a second that are tried when that does not hold.
const LOWER: [u64; 5] = [400, 300, 200, 100, 50];
const SHORT: Duration = Duration::from_secs(3);
/// What a rate must hold, in milliseconds.
const P50: f64 = 5.0;
const P99: f64 = 25.0;
/// Conversations that are renamed in turn, so that commands do not meet at one.
const CONVERSATIONS: usize = 48;
/// Commands under way at most.
const AT_ONCE: usize = 256;
/// What the stores are asked about, and how often.
const STORES: [&str; 3] = ["postgres", "clickhouse", "neo4j"];
const LOOK: Duration = Duration::from_millis(4);

/// What came of commands at some rate.
struct Steady {
    /// Commands a second that were made.
    reached: f64,
    latency: Sample,
    refused: u64,
}

impl Steady {
    fn holds(&self, asked: u64) -> bool {
        let kept_up = self.reached >= asked as f64 * 0.95 && self.refused == 0;
        kept_up && self.latency.p50() <= P50 && self.latency.p99() <= P99
    }
}

/// Renames conversations; each command is one fact.
pub(super) async fn measure(site: &Site, running: &Running, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    let workspace = site.installation.workspace(&running.url).await;
    let mut conversations = Vec::new();
    for _ in 0..CONVERSATIONS {
        conversations.push(workspace.say("hello").await.conversation);
    }
    site.settle().await?;
    // Connections open and statements are prepared before anything is measured.
    commands(site, &workspace, &conversations, (LOWER[2], SHORT)).await?;
    let (stop, stopped) = oneshot::channel();
    let watch = watch(site, stopped);
    let steady = async {
        let done = commands(site, &workspace, &conversations, (RATE, LONG)).await;
        // Those who are behind may still catch up.
        let settled = site.settle().await;
        let _ = stop.send(());
        settled?;
        done
    };
    let (looks, steady) = tokio::join!(watch, steady);
    let steady = steady?;
    let mut figures = vec![
        Figure::new(format!("commands a second, {RATE} tried"), steady.reached, "/s")
            .beside("commits", base.commits),
        Figure::new("  refused (503) of them", steady.refused as f64, "").goal(Goal::AtMost(0.0)),
        Figure::new("command → SSE frame, p50", steady.latency.p50(), "ms")
            .beside("commit", base.commit)
            .goal(Goal::AtMost(P50)),
        Figure::new("command → SSE frame, p99", steady.latency.p99(), "ms").goal(Goal::AtMost(P99)),
    ];
    let looks = looks?;
    for (nth, store) in STORES.into_iter().enumerate() {
        let lag = lags(&looks, nth);
        figures.push(
            Figure::new(format!("lag of {store} at that rate, p99"), lag.p99(), "ms")
                .goal(Goal::AtMost(200.0)),
        );
    }
    if !steady.holds(RATE) {
        figures.extend(highest(site, &workspace, &conversations).await?);
    }
    Ok(figures)
}

/// The highest of the lower rates at which both latencies are as they must be.
async fn highest(
    site: &Site,
    workspace: &Workspace,
    conversations: &[String],
) -> anyhow::Result<Vec<Figure>> {
    for rate in LOWER {
        site.settle().await?;
        println!("  at {rate}/s …");
        let steady = commands(site, workspace, conversations, (rate, SHORT)).await?;
        if steady.holds(rate) || rate == LOWER[LOWER.len() - 1] {
            let name = if steady.holds(rate) {
                "highest rate that holds both"
            } else {
                "no rate holds both; lowest"
            };
            return Ok(vec![
                Figure::new(format!("command → SSE frame, {name}"), rate as f64, "/s"),
                Figure::new("  p50 there", steady.latency.p50(), "ms"),
                Figure::new("  p99 there", steady.latency.p99(), "ms"),
            ]);
        }
    }
    Ok(Vec::new())
}

/// Commands at a rate, for a time.
async fn commands(
    site: &Site,
    workspace: &Workspace,
    conversations: &[String],
    (rate_asked, long): (u64, Duration),
) -> anyhow::Result<Steady> {
    let path = format!("/v1/workspaces/{}/stream?after={}", workspace.id, site.head().await?);
    let mut events = workspace.stream(&path, None).await;
    let sent = Arc::<Mutex<HashMap<String, Instant>>>::default();
    let total = rate_asked * long.as_secs();
    let shared = Arc::clone(&sent);
    let seen = tokio::spawn(async move {
        let mut took = Vec::new();
        while (took.len() as u64) < total {
            let Ok(Some(event)) = timeout(Duration::from_secs(8), events.next()).await else { break };
            let title = event.data["payload"]["title"].as_str().unwrap_or_default();
            let at = shared.lock().unwrap_or_else(PoisonError::into_inner).remove(title);
            took.extend(at.map(|at| at.elapsed()));
        }
        took
    });
    let (begun, permits) = (Instant::now(), Arc::new(Semaphore::new(AT_ONCE)));
    let mut tick = interval(Duration::from_secs(1).div_f64(rate_asked as f64));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut under_way = Vec::new();
    for nth in 0..total {
        tick.tick().await;
        let permit = Arc::clone(&permits).acquire_owned().await?;
        let title = format!("title-{nth}");
        let path = format!("/v1/conversations/{}", conversations[nth as usize % conversations.len()]);
        let request = workspace.http.request(Method::PATCH, &path).json(&json!({"title": title}));
        sent.lock().unwrap_or_else(PoisonError::into_inner).insert(title, Instant::now());
        under_way.push(tokio::spawn(async move {
            let status = request.send().await.map(|answer| answer.status().as_u16());
            drop(permit);
            status
        }));
    }
    let mut refused = 0;
    for command in under_way {
        refused += u64::from(command.await?? != 204);
    }
    let reached = rate(total, begun.elapsed());
    let took = seen.await.context("the stream's reader")?;
    let shown = took.len() as u64;
    anyhow::ensure!(
        shown + refused >= total,
        "the screen showed {shown} of {total} commands, {refused} were refused"
    );
    Ok(Steady { reached, latency: Sample::of(took), refused })
}

/// When, and where the journal and each store stood.
type Look = (Instant, i64, [i64; 3]);

async fn watch(site: &Site, mut stopped: oneshot::Receiver<()>) -> anyhow::Result<Vec<Look>> {
    const ASK: &str = "select (select max(seq) from journal.sequence) as head,
        (select seq from projection.cursors where projection = 'postgres') as postgres,
        (select seq from projection.cursors where projection = 'clickhouse') as clickhouse,
        (select seq from projection.cursors where projection = 'neo4j') as neo4j";
    let (mut looks, mut tick) = (Vec::new(), interval(LOOK));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stopped.try_recv().is_err() {
        tick.tick().await;
        let row = sqlx::query(ASK).fetch_one(&site.postgres).await?;
        let mut stores = [0; 3];
        for (store, name) in stores.iter_mut().zip(STORES) {
            *store = row.try_get(name)?;
        }
        looks.push((Instant::now(), row.try_get("head")?, stores));
    }
    Ok(looks)
}

/// For each head that was seen, the time until the store stood there.
fn lags(looks: &[Look], store: usize) -> Sample {
    let mut later = looks.iter();
    let mut there = later.next();
    let (mut head, mut lags) = (0, Vec::new());
    for (at, now, _) in looks {
        if *now == head {
            continue;
        }
        head = *now;
        while there.is_some_and(|(_, _, stores)| stores[store] < head) {
            there = later.next();
        }
        let Some((then, _, _)) = there else { break };
        lags.push(then.saturating_duration_since(*at));
    }
    Sample::of(lags)
}
