//! The load test: four tenants, a hundred calls each under way, and then every store is asked.

mod checks;
mod statements;

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::{Until, drive};
use crate::site::Site;
use crate::stats::rate;
use crate::{machine, paths};

/// Tenants, each with a workspace and a key.
const TENANTS: usize = 4;
/// Calls of one tenant under way.
const EACH: usize = 100;

/// Runs it; whether everything was as it must be.
pub(crate) async fn run(seconds: u64) -> anyhow::Result<bool> {
    let machine = machine::describe();
    println!("{}\n", machine::sentence(&machine));
    let site = Site::new().await?;
    let (per_call, mut calls) = statements::measure(&site).await?;
    let warm = calls.len();
    println!("{TENANTS} tenants × {EACH} calls at once for {seconds} s …");
    let running = site.start().await;
    let workspaces = site.workspaces(&running, TENANTS).await;
    let driven = drive(&workspaces, TENANTS * EACH, Until::Time(Duration::from_secs(seconds))).await;
    let settled = site.settle().await?;
    calls.extend(driven.calls.iter().cloned());
    let mut checks = vec![statements::check(&per_call)];
    checks.push(checks::no_errors(&driven));
    checks.extend(checks::stores(&site, &calls).await?);
    checks.push(checks::quiet(&running));
    let count = driven.calls.len() as u64;
    let result = json!({
        "machine": machine,
        "tenants": TENANTS, "atOncePerTenant": EACH, "seconds": seconds,
        "calls": count, "callsPerSecond": rate(count, driven.took),
        "callsPerSecondSettled": rate(count, driven.took + settled),
        "settledAfterSeconds": settled.as_secs_f64(),
        "milliseconds": {"p50": driven.latency.p50(), "p99": driven.latency.p99(), "max": driven.latency.share(1.0)},
        "endsAfterTheWait": driven.late,
        "callsBeforeForCounting": warm,
        "statementsPerCall": per_call.iter().map(|count| count.json()).collect::<Vec<_>>(),
        "checks": checks.iter().map(|check| json!({"name": check.name, "ok": check.flaw.is_none(), "flaw": check.flaw}))
            .collect::<Vec<_>>(),
    });
    print(&result);
    paths::keep("load.json", &result)?;
    Ok(checks.iter().all(|check| check.flaw.is_none()))
}

fn print(result: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    println!("\ncalls                 {:>9}", result["calls"]);
    println!("calls/s               {:>9.1}", number(&result["callsPerSecond"]));
    println!("calls/s, settled      {:>9.1}", number(&result["callsPerSecondSettled"]));
    println!("settled after         {:>9.2} s", number(&result["settledAfterSeconds"]));
    for share in ["p50", "p99", "max"] {
        println!("latency {share}           {:>9.1} ms", number(&result["milliseconds"][share]));
    }
    println!("ended after the wait  {:>9}\n", result["endsAfterTheWait"]);
    for check in result["checks"].as_array().into_iter().flatten() {
        let flaw = check["flaw"].as_str().map(|flaw| format!(": {flaw}")).unwrap_or_default();
        println!(
            "{}  {}{flaw}",
            if flaw.is_empty() { "ok  " } else { "FAIL" },
            check["name"].as_str().unwrap_or_default()
        );
    }
}
