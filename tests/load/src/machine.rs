//! What the figures were measured on.

use std::fs;
use std::thread;

use serde_json::{Value, json};

/// Cores, how busy they were before, and how the programs were built.
pub(crate) fn describe() -> Value {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<_> = load.split(' ').take(3).collect();
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    json!({
        "cores": cores,
        "processor": model.map_or("unknown", |(_, name)| name),
        "loadBefore": load.join(" "),
        "build": if cfg!(debug_assertions) { "dev (unoptimised)" } else { "release" },
    })
}

/// The same as a sentence.
pub(crate) fn sentence(machine: &Value) -> String {
    let text = |name: &str| machine[name].as_str().unwrap_or("?").to_owned();
    format!(
        "{} cores ({}) shared by all servers, all roles and the client; {} build; load average before the run {}",
        machine["cores"],
        text("processor"),
        text("build"),
        text("loadBefore")
    )
}

/// What the system counts processor time in, a second.
const TICKS: f64 = 100.0;

/// Processor time of a process so far, in seconds; 0 for one that is gone.
pub(crate) fn spent(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may hold anything: user and system time are the 12th and 13th field.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// Processor time of everything on this machine so far, in seconds.
pub(crate) fn busy() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let times: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    // User, nice, system; then idle and waiting; then interrupts.
    let busy = [0, 1, 2, 5, 6].into_iter().filter_map(|nth| times.get(nth)).sum::<f64>();
    busy / TICKS
}

/// A process's resident memory in KiB.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
}
