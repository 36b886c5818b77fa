//! Whether memory grows with the calls that were made: every role in a process of its own, weighed twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::drive::{Until, drive};
use crate::machine::resident;
use crate::site::{Running, Site};
use crate::stats::rate;
use crate::{machine, paths};

/// Clients, each with one call under way.
const CLIENTS: usize = 32;
const TENANTS: usize = 4;
/// Weighings, one after every so many calls.
const STEPS: u64 = 10;
/// How much larger a process may be after all calls than after the first tenth of them.
const MOST: f64 = 1.2;
/// What ends after the last answer, such as caches that are given up, has ended by then.
const REST: Duration = Duration::from_secs(2);

/// Makes so many calls, and says whether every role stayed as large as it was.
pub(crate) async fn run(calls: u64) -> anyhow::Result<bool> {
    let machine = machine::describe();
    println!("{}\n", machine::sentence(&machine));
    let site = Site::new().await?;
    let running = site.start_apart().await;
    let workspaces = site.workspaces(&running, TENANTS).await;
    let mut weighed = Vec::new();
    for step in 1..=STEPS {
        let driven = drive(&workspaces, CLIENTS, Until::Calls(calls / STEPS)).await;
        if let Some(error) = driven.errors.first() {
            anyhow::bail!("{} calls failed, the first: {error}", driven.errors.len());
        }
        site.settle().await?;
        tokio::time::sleep(REST).await;
        let now = weigh(&running);
        let told: Vec<_> = now.iter().map(|(role, kib)| format!("{role} {} MiB", kib / 1024)).collect();
        let speed = rate(driven.calls.len() as u64, driven.took);
        println!("{:>7} calls ({speed:.0}/s): {}", step * calls / STEPS, told.join(", "));
        weighed.push(now);
    }
    let (Some(first), Some(last)) = (weighed.first(), weighed.last()) else { return Ok(false) };
    println!("\n{:<22} {:>12} {:>12} {:>8}", "resident, KiB", calls / STEPS, calls, "ratio");
    let mut roles = Vec::new();
    for (role, after) in last {
        let before = first.get(role).copied().unwrap_or_default();
        let ratio = *after as f64 / before as f64;
        let verdict = if ratio <= MOST { "ok" } else { "GROWS" };
        println!("{role:<22} {before:>12} {after:>12} {ratio:>8.2}  {verdict}");
        roles.push(json!({"role": role, "kibBefore": before, "kibAfter": after, "ratio": ratio, "ok": ratio <= MOST}));
    }
    paths::keep(
        "memory.json",
        &json!({"machine": machine, "calls": calls, "roles": roles, "everyTenth": weighed}),
    )?;
    Ok(roles.iter().all(|role| role["ok"] == true))
}

/// Each role's resident memory in KiB.
fn weigh(running: &Running) -> BTreeMap<&'static str, u64> {
    let weigh =
        |(role, process): (&&'static str, &oxagen_tests::Process)| Some((*role, resident(process.pid())?));
    running.processes.iter().filter_map(weigh).collect()
}
