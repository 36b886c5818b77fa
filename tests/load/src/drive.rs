//! Clients that call a tool over HTTP and wait for its result, each one call after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oxagen_tests::Workspace;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stats::Sample;

/// The longest wait for a call's end, in seconds, as the client asks for it.
const WAIT: &str = "wait=25";

/// When the clients stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// After so many calls of all together.
    Calls(u64),
    /// After this time.
    Time(Duration),
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// Calls with their tenants.
    pub(crate) calls: Vec<(String, String)>,
    /// From the request to the result.
    pub(crate) latency: Sample,
    /// Calls whose end did not come in time; they are in `calls` too.
    pub(crate) late: usize,
    /// Whatever went wrong.
    pub(crate) errors: Vec<String>,
    /// From the first request to the last answer.
    pub(crate) took: Duration,
}

/// Calls `agent.tool.list` with so many clients, which are spread over the workspaces.
pub(crate) async fn drive(workspaces: &[Workspace], clients: usize, until: Until) -> Driven {
    let (begun, budget) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..clients)
        .map(|nth| {
            let (workspace, budget) = (workspaces[nth % workspaces.len()].clone(), Arc::clone(&budget));
            tokio::spawn(async move {
                let mut mine = Vec::new();
                while goes_on(until, begun, &budget) {
                    let sent = Instant::now();
                    mine.push((call(&workspace).await, sent.elapsed()));
                }
                (workspace.tenant, mine)
            })
        })
        .collect();
    let (mut driven, mut latencies) = (Driven::default(), Vec::new());
    for task in tasks {
        match task.await {
            Ok((tenant, mine)) => {
                for (answer, took) in mine {
                    match answer {
                        Ok((id, ended)) => {
                            driven.calls.push((tenant.clone(), id));
                            driven.late += usize::from(!ended);
                            latencies.push(took);
                        }
                        Err(error) => driven.errors.push(error),
                    }
                }
            }
            Err(error) => driven.errors.push(error.to_string()),
        }
    }
    driven.took = begun.elapsed();
    driven.latency = Sample::of(latencies);
    driven
}

fn goes_on(until: Until, begun: Instant, budget: &AtomicU64) -> bool {
    match until {
        Until::Calls(calls) => budget.fetch_add(1, Ordering::Relaxed) < calls,
        Until::Time(time) => begun.elapsed() < time,
    }
}

/// One call: its id, and whether it has ended.
async fn call(workspace: &Workspace) -> Result<(String, bool), String> {
    let body = json!({"capability": "agent.tool.list", "input": {}});
    let request = workspace.http.request(Method::POST, "/v1/tool-calls").header("Prefer", WAIT).json(&body);
    let response = request.send().await.map_err(|error| format!("{error:?}"))?;
    let status = response.status().as_u16();
    let text = response.text().await.map_err(|error| format!("{error:?}"))?;
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let id = answer["callId"].as_str().ok_or_else(|| format!("{status}: {text}"))?.to_owned();
    match status {
        200 if answer["status"] == "completed" => Ok((id, true)),
        202 => Ok((id, false)),
        _ => Err(format!("{status}: {text}")),
    }
}
