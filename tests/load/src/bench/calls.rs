//! Tool calls, from the client's request until all three stores have them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Baselines;
use crate::drive::{Until, drive};
use crate::machine;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::rate;

/// Calls under way.
const AT_ONCE: usize = 64;
/// How long.
const LONG: Duration = Duration::from_secs(10);
const TENANTS: usize = 4;

/// Calls as fast as the answers come.
pub(super) async fn measure(site: &Site, running: &Running, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    let workspaces = site.workspaces(running, TENANTS).await;
    let spent = || running.processes.iter().map(|(name, process)| (*name, machine::spent(process.pid())));
    let (before, busy) = (spent().collect::<BTreeMap<_, _>>(), machine::busy());
    let driven = drive(&workspaces, AT_ONCE, Until::Time(LONG)).await;
    let settled = site.settle().await?;
    let busy = machine::busy() - busy;
    if let Some(error) = driven.errors.first() {
        anyhow::bail!("{} calls failed, the first: {error}", driven.errors.len());
    }
    let count = driven.calls.len() as u64;
    let mut figures = vec![
        Figure::new("durable tool calls, three stores settled", rate(count, driven.took + settled), "/s")
            .beside("commits", base.commits)
            .goal(Goal::AtLeast(1000.0)),
        Figure::new(format!("  call → result with {AT_ONCE} at once, p50"), driven.latency.p50(), "ms"),
        Figure::new(format!("  call → result with {AT_ONCE} at once, p99"), driven.latency.p99(), "ms"),
        Figure::new("  settled after the last call", settled.as_secs_f64() * 1000.0, "ms"),
    ];
    let each = |seconds: f64| seconds / count as f64 * 1e6;
    for (name, after) in spent() {
        let own = each(after - before.get(name).copied().unwrap_or_default());
        figures.push(Figure::new(format!("  processor time of {name}, a call"), own, "µs"));
    }
    figures.push(Figure::new("  processor time of the whole machine, a call", each(busy), "µs"));
    Ok(figures)
}
