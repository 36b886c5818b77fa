//! What a turn costs without its model, and how soon an approved one goes on.

use std::time::{Duration, Instant};

use anyhow::ensure;
use oxagen_tests::{call, reply, scenario};
use serde_json::json;

use super::{Baselines, said};
use crate::clock::Clock;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::Sample;

const TURNS: usize = 40;
const APPROVALS: usize = 10;
/// Turns that only warm up.
const WARM: usize = 3;

/// One turn after the other, with three calls each.
pub(super) async fn measure(site: &Site, running: &Running, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    said("turns and approvals");
    let overhead = overhead(site).await?;
    let (resumed, output) = approvals(site, running).await?;
    Ok(vec![
        Figure::new("turn with three calls, without the model, p50", overhead.p50(), "ms")
            .beside("commit", base.commit)
            .goal(Goal::AtMost(10.0)),
        Figure::new("turn with three calls, without the model, p99", overhead.p99(), "ms")
            .goal(Goal::AtMost(50.0)),
        Figure::new("approve → first resumed fact, p50", resumed.p50(), "ms").beside("commit", base.commit),
        Figure::new("approve → first resumed fact, p99", resumed.p99(), "ms").goal(Goal::AtMost(50.0)),
        Figure::new("approve → program's end on the screen, p50", output.p50(), "ms")
            .beside("bare exec", base.exec),
    ])
}

/// On a runner of its own, whose model is behind a stopwatch.
async fn overhead(site: &Site) -> anyhow::Result<Sample> {
    let list = || call("agent_tool_list", json!({}));
    let replies = vec![reply("Looking.", vec![list(), list(), list()]), reply("Done.", vec![])];
    site.installation.model.add_scenarios(vec![scenario("three-calls", replies)]);
    let clock = Clock::before(site.installation.model.address().to_string()).await;
    let model = format!("http://{}/v1", clock.address);
    let runner = site.installation.start_with(&["gateway", "runner"], &[("OXAGEN_MODEL_URL", &model)]).await;
    let workspace = site.installation.workspace(&runner.url).await;
    let path = format!("/v1/workspaces/{}/stream?after=0", workspace.id);
    let mut events = workspace.stream(&path, None).await;
    let mut took = Vec::new();
    for nth in 0..WARM + TURNS {
        clock.take();
        let begun = Instant::now();
        workspace.say("three-calls").await;
        let end = events.turn_end().await;
        let whole = begun.elapsed();
        ensure!(end.name == "turn-completed", "a turn ended otherwise: {}", end.data);
        let model = clock.take();
        if nth >= WARM && model > Duration::ZERO {
            took.push(whole.saturating_sub(model));
        }
    }
    ensure!(took.len() >= TURNS / 4, "too few turns came to the runner behind the stopwatch");
    Ok(Sample::of(took))
}

async fn approvals(site: &Site, running: &Running) -> anyhow::Result<(Sample, Sample)> {
    let run = call("agent_code_execute", json!({"language": "shell", "code": "echo ready"}));
    let replies = vec![reply("Running.", vec![run]), reply("Done.", vec![])];
    site.installation.model.add_scenarios(vec![scenario("one-program", replies)]);
    let workspace = site.installation.workspace(&running.url).await;
    let path = format!("/v1/workspaces/{}/stream?after=0", workspace.id);
    let mut events = workspace.stream(&path, None).await;
    let (mut resumed, mut output) = (Vec::new(), Vec::new());
    for nth in 0..1 + APPROVALS {
        workspace.say("one-program").await;
        let asked = events.until("approval-required").await.data;
        events.until("turn-paused").await;
        let begun = Instant::now();
        let http = workspace.clone();
        let approval = asked["approvalId"].as_str().unwrap_or_default().to_owned();
        let approved = tokio::spawn(async move { http.approve(&approval).await });
        events.until("turn-resumed").await;
        let at = begun.elapsed();
        let end = events.turn_end().await;
        ensure!(end.name == "turn-completed", "a turn ended otherwise: {}", end.data);
        approved.await?;
        if nth > 0 {
            resumed.push(at);
            output.push(begun.elapsed());
        }
    }
    Ok((Sample::of(resumed), Sample::of(output)))
}
