//! A pile of facts: how fast the relay numbers and publishes it, and each projector takes it in, alone.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_nats::jetstream;

use super::{Baselines, said};
use crate::report::{Figure, Goal};
use crate::site::Site;
use crate::stats::rate;

/// Calls in the pile, of four facts each.
const CALLS: i32 = 6_000;
const LOOK: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(40);

/// A direct call's events, copied under new ids.
const PILE: &str = "
with n as materialized (select g, gen_random_uuid() as call, gen_random_uuid() as execution from generate_series(1, $3) g)
insert into journal.events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, occurred_at)
select e.aggregate_type, n.call::text, e.sequence, e.event_type, e.event_version,
  replace(replace(e.payload::text, $1, n.call::text), $2, n.execution::text)::json,
  replace(e.metadata::text, $1, n.call::text)::json, clock_timestamp()
from n join journal.events e on e.aggregate_type = 'tool_call' and e.aggregate_id = $1
order by n.g, e.sequence";

/// Piles facts up while nobody works, then starts one role after the other.
pub(super) async fn measure(site: &Site, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    said("backlog");
    let before = site.head().await?;
    let facts = pile(site).await?;
    let head = before + facts;
    let client = async_nats::connect(&site.installation.servers.nats_url).await?;
    let context = jetstream::new(client);
    let stream = format!("{}_FACTS", site.installation.name);
    let relay = {
        let started = site.installation.start(&["relay"]);
        let published = async || Ok(context.get_stream(&stream).await?.cached_info().state.last_sequence);
        let (took, _process) = until(before, head, published, started).await?;
        took
    };
    let mut figures = vec![
        Figure::new(format!("relay, backlog of {facts}"), rate(facts, relay), "facts/s")
            .beside("publishes", base.publishes)
            .goal(Goal::AtLeast(20_000.0)),
    ];
    for (store, least) in [("postgres", 20_000.0), ("clickhouse", 100_000.0), ("neo4j", 5_000.0)] {
        let role = format!("projector-{store}");
        let from = site.cursor(store).await?;
        ensure!(from == before, "{role} stands at {from} and not at {before} before its backlog");
        let roles = [role.as_str()];
        let started = site.installation.start(&roles);
        let (took, _process) = until(before, head, async || site.cursor(store).await, started).await?;
        figures.push(
            Figure::new(format!("{role}, backlog of {facts}"), rate(facts, took), "facts/s")
                .beside("publishes", base.publishes)
                .goal(Goal::AtLeast(least)),
        );
    }
    Ok(figures)
}

/// Makes the pile; gives the number of its facts.
async fn pile(site: &Site) -> anyhow::Result<u64> {
    const TEMPLATE: &str = "
        select aggregate_id, coalesce(substring(payload::text from '\"executionId\":\"([0-9a-f-]{36})\"'),
                                      substring(payload::text from '\"execution_id\":\"([0-9a-f-]{36})\"'))
        from journal.events
        where event_type = 'tool_call.requested' and turn_id is null
          and aggregate_id in (select aggregate_id from journal.events where event_type = 'tool_call.completed')
        limit 1";
    let template: Option<(String, Option<String>)> =
        sqlx::query_as(TEMPLATE).fetch_optional(&site.postgres).await?;
    let (call, execution) = template.context("no call outside a turn to copy")?;
    let execution = execution.context("a call without its execution")?;
    let pile = sqlx::query(PILE).bind(&call).bind(&execution).bind(CALLS);
    let facts = pile.execute(&site.postgres).await?.rows_affected();
    sqlx::query("analyze journal.events").execute(&site.postgres).await?;
    Ok(facts)
}

/// Looks while the role starts and works; the time from the last look without any progress to the end.
async fn until<P>(
    before: u64,
    head: u64,
    mut look: impl AsyncFnMut() -> anyhow::Result<u64>,
    started: impl Future<Output = P>,
) -> anyhow::Result<(Duration, P)> {
    let watched = async {
        let (begun, mut still) = (Instant::now(), Instant::now());
        loop {
            let now = look().await?;
            if now <= before {
                still = Instant::now();
            }
            if now >= head {
                return anyhow::Ok(still.elapsed());
            }
            ensure!(begun.elapsed() < LONGEST, "at {now} of {head} after {LONGEST:?}");
            tokio::time::sleep(LOOK).await;
        }
    };
    let (took, process) = tokio::join!(watched, started);
    Ok((took?, process))
}
