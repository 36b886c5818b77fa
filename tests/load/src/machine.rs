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

/// A process's resident memory in KiB.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
}
