//! The benchmark: every figure in one run, beside what the servers do by themselves on the same machine.

mod backlog;
mod baseline;
mod commands;
mod sandbox;
mod turns;
mod viewers;

use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use crate::drive::{Until, drive};
use crate::report::{self, Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::rate;
use crate::{machine, paths};

/// Calls under way when throughput is measured.
const AT_ONCE: usize = 64;
/// How long.
const CALLS: Duration = Duration::from_secs(10);

/// What the servers do by themselves.
#[derive(Clone, Copy, Debug, Default)]
struct Baselines {
    /// Single-row commits a second with 16 clients.
    commits: f64,
    /// The median of one of them, in milliseconds.
    commit: f64,
    /// Messages a second, published one behind the other.
    publishes: f64,
    /// The median of a bare `docker exec` until its first output, in milliseconds.
    exec: f64,
}

/// Runs every part whose name contains `only`; always successful, as a missed goal is a result too.
pub(crate) async fn run(only: &str) -> anyhow::Result<bool> {
    let (machine, begun) = (machine::describe(), Instant::now());
    println!("{}\n", machine::sentence(&machine));
    let site = Site::new().await?;
    let wanted = |name: &str| name.contains(only);
    let (base, mut figures) = baseline::measure(&site).await?;
    print!("{}", report::table(&figures));
    if wanted("sandbox") {
        take(&mut figures, "sandbox", sandbox::measure(&site, base).await);
    }
    let running = site.start().await;
    if wanted("turns") {
        take(&mut figures, "turns", turns::measure(&site, &running, base).await);
    }
    if wanted("commands") {
        take(&mut figures, "commands", commands::measure(&site, &running, base).await);
    }
    if wanted("viewers") {
        take(&mut figures, "viewers", viewers::measure(&site, &running).await);
    }
    if wanted("calls") || wanted("backlog") {
        take(&mut figures, "calls", calls(&site, &running, base).await);
    }
    drop(running);
    if wanted("backlog") {
        take(&mut figures, "backlog", backlog::measure(&site, base).await);
    }
    let table = report::table(&figures);
    println!("\n{table}\nmeasured in {:.0} s", begun.elapsed().as_secs_f64());
    paths::keep("bench.json", &json!({"machine": machine, "figures": report::json(&figures)}))?;
    if only.is_empty() {
        write(&machine::sentence(&machine), &table)?;
    }
    Ok(true)
}

/// A part that could not be measured is told, and the others go on.
fn take(figures: &mut Vec<Figure>, part: &str, measured: anyhow::Result<Vec<Figure>>) {
    match measured {
        Ok(measured) => {
            print!("{}", report::table(&measured));
            figures.extend(measured);
        }
        Err(error) => {
            println!("{part}: {error:#}");
            figures.push(Figure::new(format!("{part}: not measured ({error:#})"), f64::NAN, ""));
        }
    }
}

async fn calls(site: &Site, running: &Running, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    said("durable tool calls");
    let workspaces = site.workspaces(running, 4).await;
    let driven = drive(&workspaces, AT_ONCE, Until::Time(CALLS)).await;
    let settled = site.settle().await?;
    if let Some(error) = driven.errors.first() {
        anyhow::bail!("{} calls failed, the first: {error}", driven.errors.len());
    }
    let count = driven.calls.len() as u64;
    Ok(vec![
        Figure::new("durable tool calls, three stores settled", rate(count, driven.took + settled), "/s")
            .beside("commits", base.commits)
            .goal(Goal::AtLeast(1000.0)),
        Figure::new(format!("  call → result with {AT_ONCE} at once, p50"), driven.latency.p50(), "ms"),
        Figure::new(format!("  call → result with {AT_ONCE} at once, p99"), driven.latency.p99(), "ms"),
        Figure::new("  settled after the last call", settled.as_secs_f64() * 1000.0, "ms"),
    ])
}

fn said(part: &str) {
    println!("{part} …");
}

fn write(machine: &str, table: &str) -> anyhow::Result<()> {
    let path = paths::root().join("docs/benchmarks.md");
    let text = format!(
        "# Benchmarks\n\nWritten by `make bench`: every figure of one run, beside what the servers do by themselves in the \
         same run.\n\n{machine}.\n\n{table}\nThe baselines: single-row commits with 16 clients over sqlx into one table of the \
         same Postgres; publishing to a stream of the same NATS by the same client alone; `docker exec` in a running \
         container without anything of ours. A latency's ratio compares p50 with p50. Turn overhead is the time from the \
         request to `turn-completed` without what the model's answers took, measured in front of the provider.\n"
    );
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
