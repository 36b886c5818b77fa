//! Statements per call, counted in front of Postgres, at 10, 100 and 400 calls under way.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::TENANTS;
use super::checks::Check;
use crate::counter::{Counts, NOTHING};
use crate::drive::{Until, drive};
use crate::site::{Running, Site};

/// Calls under way.
const AT_ONCE: [usize; 3] = [10, 100, 400];
/// Calls counted at each, or one for each client where that is more.
const CALLS: usize = 200;
/// What connections and clocks add or take.
const TOLERANCE: f64 = 1.1;
/// Processes that handle each call by itself; the others take what has come meanwhile in one go.
const BY_CALL: [&str; 2] = ["gateway", "runner"];

/// Statements per call at some number of calls under way.
pub(super) struct PerCall {
    at_once: usize,
    processes: BTreeMap<&'static str, f64>,
    statements: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

impl PerCall {
    pub(super) fn json(&self) -> Value {
        json!({"atOnce": self.at_once, "processes": self.processes, "statements": self.statements})
    }
}

/// Counts; gives the calls that were made for it with their tenants as well.
pub(super) async fn measure(site: &Site) -> anyhow::Result<(Vec<PerCall>, Vec<(String, String)>)> {
    let running = site.start_counted().await;
    let workspaces = site.workspaces(&running, TENANTS).await;
    // Connections open, catalogues load and statements are prepared before anything is counted.
    let mut calls = drive(&workspaces, 100, Until::Calls(100)).await.calls;
    let mut all = Vec::new();
    site.settle().await?;
    let idle = idle(&running).await;
    for at_once in AT_ONCE {
        println!("counting statements, {at_once} calls at once …");
        take(&running);
        let driven = drive(&workspaces, at_once, Until::Calls(at_once.max(CALLS) as u64)).await;
        let settled = site.settle().await?;
        let counted = take(&running);
        let seconds = (driven.took + settled).as_secs_f64();
        all.push(per_call(at_once, counted, &idle, seconds));
        calls.extend(driven.calls);
    }
    print(&all);
    Ok((all, calls))
}

/// Statements a second while nothing is done.
async fn idle(running: &Running) -> BTreeMap<&'static str, BTreeMap<String, f64>> {
    const WATCHED: Duration = Duration::from_secs(4);
    take(running);
    tokio::time::sleep(WATCHED).await;
    let by_second =
        |counts: Counts| counts.into_iter().map(|(sql, count)| (sql, count as f64 / WATCHED.as_secs_f64()));
    take(running).into_iter().map(|(process, counts)| (process, by_second(counts).collect())).collect()
}

fn take(running: &Running) -> BTreeMap<&'static str, Counts> {
    running.counters.iter().map(|(process, counter)| (*process, counter.take())).collect()
}

fn per_call(
    at_once: usize,
    counted: BTreeMap<&'static str, Counts>,
    idle: &BTreeMap<&'static str, BTreeMap<String, f64>>,
    seconds: f64,
) -> PerCall {
    let mut made = PerCall { at_once, processes: BTreeMap::new(), statements: BTreeMap::new() };
    for (process, counts) in counted {
        let own = |(sql, count): (String, u64)| {
            let anyway = idle.get(process).and_then(|idle| idle.get(&sql)).copied().unwrap_or(0.0) * seconds;
            let each = (count as f64 - anyway).max(0.0) / at_once.max(CALLS) as f64;
            (each >= 0.005).then_some((sql, each))
        };
        let statements: BTreeMap<_, _> = counts.into_iter().filter_map(own).collect();
        let asked = statements.iter().filter(|(sql, _)| *sql != NOTHING);
        made.processes.insert(process, asked.map(|(_, each)| each).sum());
        made.statements.insert(process, statements);
    }
    made
}

/// No more statements per call with many under way than with few.
pub(super) fn check(all: &[PerCall]) -> Check {
    let name = "statements per call do not grow with the number under way".to_owned();
    let Some((few, many)) = all.split_first() else {
        return Check { name, flaw: Some("not counted".to_owned()) };
    };
    let grown = many.iter().flat_map(|many| {
        few.processes.iter().filter_map(move |(process, before)| {
            let after = many.processes.get(process)?;
            let has_grown = *after > before * TOLERANCE + 0.1;
            has_grown
                .then(|| format!("{process}: {before:.2} at {}, {after:.2} at {}", few.at_once, many.at_once))
        })
    });
    let grown: Vec<_> = grown.collect();
    Check { name, flaw: (!grown.is_empty()).then(|| grown.join("; ")) }
}

fn print(all: &[PerCall]) {
    println!("statements per call, by process (counted in front of Postgres, idle polling taken off)");
    println!(
        "  {:>9} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "at once", "gateway", "runner", "relay", "projectors", "all"
    );
    for count in all {
        let of = |process: &str| count.processes.get(process).copied().unwrap_or(f64::NAN);
        let sum: f64 = count.processes.values().sum();
        println!(
            "  {:>9} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {sum:>10.2}",
            count.at_once,
            of("gateway"),
            of("runner"),
            of("relay"),
            of("projector-postgres")
        );
    }
    let Some(last) = all.last() else { return };
    for process in BY_CALL {
        println!("  {process}, at {} at once:", last.at_once);
        let mut statements: Vec<_> = last.statements.get(process).into_iter().flatten().collect();
        statements.sort_by(|one, other| other.1.total_cmp(one.1));
        for (sql, each) in statements.iter().filter(|(_, each)| **each >= 0.02) {
            println!("    {each:>6.2}  {sql}");
        }
    }
    println!();
}
