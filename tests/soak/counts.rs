//! Runs and failures per point, kept in a file between soaks.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Servers and roles are to be back at work in this time; a run that took longer is counted as late.
const LATE: Duration = Duration::from_secs(5);

/// What one point has come to.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Count {
    runs: u64,
    failures: u64,
    late: u64,
    longest_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failure: Option<String>,
}

/// All points so far.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<String, Count>);

impl Counts {
    /// Those of the soaks before.
    pub(crate) fn load() -> Self {
        let text = fs::read_to_string(file()).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    pub(crate) fn save(&self) {
        let (file, text) = (file(), serde_json::to_string_pretty(&self.0).unwrap());
        let new = file.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, file).unwrap();
    }

    pub(crate) fn passed(&mut self, point: &str, back: Duration) {
        let count = self.0.entry(point.to_owned()).or_default();
        count.runs += 1;
        count.late += u64::from(back > LATE);
        count.longest_seconds = count.longest_seconds.max((back.as_secs_f64() * 10.0).round() / 10.0);
        println!("{point:<62} {:>6.1} s", back.as_secs_f64());
    }

    pub(crate) fn failed(&mut self, point: &str, cause: &str) {
        let count = self.0.entry(point.to_owned()).or_default();
        count.runs += 1;
        count.failures += 1;
        count.last_failure = Some(cause.chars().take(2_000).collect());
        println!("{point:<62} FAILED");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "\n{:<62} {:>6} {:>8} {:>6} {:>9}", "point", "runs", "failures", "> 5 s", "longest s")?;
        for (point, count) in &self.0 {
            let Count { runs, failures, late, longest_seconds, .. } = count;
            writeln!(to, "{point:<62} {runs:>6} {failures:>8} {late:>6} {longest_seconds:>9.1}")?;
        }
        let sum = |of: fn(&Count) -> u64| self.0.values().map(of).sum::<u64>();
        writeln!(
            to,
            "{:<62} {:>6} {:>8} {:>6}",
            "all",
            sum(|it| it.runs),
            sum(|it| it.failures),
            sum(|it| it.late)
        )
    }
}

fn file() -> PathBuf {
    let stacks = env::var_os("OXAGEN_STACK_DIR").map(PathBuf::from);
    let project = || Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(".stack");
    stacks.unwrap_or_else(project).join("soak.json")
}
