//! What a turn costs without its model, and how soon an approved one goes on.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use oxagen_tests::{Workspace, call, reply, scenario, soon};
use serde_json::json;

use super::Baselines;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::Sample;

const TURNS: usize = 40;
const APPROVALS: usize = 10;
/// Turns that only warm up.
const WARM: usize = 3;

/// One turn after the other, with three calls each.
pub(super) async fn measure(site: &Site, running: &Running, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    let workspace = site.installation.workspace(&running.url).await;
    let overhead = overhead(site, running, &Talk::new(&workspace), TURNS).await?;
    let (resumed, output) = approvals(site, &workspace, APPROVALS).await?;
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

/// Where turns happen: each in a new conversation, or all in one.
pub(super) struct Talk<'w> {
    workspace: &'w Workspace,
    conversation: Option<&'w str>,
}

impl<'w> Talk<'w> {
    /// Each in a new one.
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, conversation: None }
    }

    /// All in this one.
    pub(super) fn inside(workspace: &'w Workspace, conversation: &'w str) -> Self {
        Self { workspace, conversation: Some(conversation) }
    }

    async fn say(&self, text: &str) {
        match self.conversation {
            Some(conversation) => self.workspace.say_in(conversation, text).await,
            None => self.workspace.say(text).await,
        };
    }
}

/// Turns with three calls each, without what their model takes.
pub(super) async fn overhead(
    site: &Site,
    running: &Running,
    talk: &Talk<'_>,
    turns: usize,
) -> anyhow::Result<Sample> {
    let list = || call("agent_tool_list", json!({}));
    let replies = vec![reply("Looking.", vec![list(), list(), list()]), reply("Done.", vec![])];
    site.installation.model.add_scenarios(vec![scenario("three-calls", replies)]);
    let head = site.head().await?;
    let path = format!("/v1/workspaces/{}/stream?after={head}", talk.workspace.id);
    let mut events = talk.workspace.stream(&path, None).await;
    let mut took = Vec::new();
    for nth in 0..WARM + turns {
        running.clock.take();
        let begun = Instant::now();
        talk.say("three-calls").await;
        let end = events.turn_end().await;
        let whole = begun.elapsed();
        ensure!(end.name == "turn-completed", "a turn ended otherwise: {}", end.data);
        let model = running.clock.take();
        ensure!(model > Duration::ZERO, "a turn ended without the model");
        if nth >= WARM {
            took.push(whole.saturating_sub(model));
        }
        // The conversation takes the next message once it knows that the turn has ended.
        if talk.conversation.is_some() {
            while soon("the turn's close", events.next()).await.context("the stream ended")?.data["type"]
                != "conversation.turn_closed"
            {}
        }
    }
    Ok(Sample::of(took))
}

/// From a person's answer to the first fact of the resumed turn, and to its program's end.
pub(super) async fn approvals(
    site: &Site,
    workspace: &Workspace,
    count: usize,
) -> anyhow::Result<(Sample, Sample)> {
    let run = call("agent_code_execute", json!({"language": "shell", "code": "echo ready"}));
    let replies = vec![reply("Running.", vec![run]), reply("Done.", vec![])];
    site.installation.model.add_scenarios(vec![scenario("one-program", replies)]);
    let path = format!("/v1/workspaces/{}/stream?after={}", workspace.id, site.head().await?);
    let mut events = workspace.stream(&path, None).await;
    let (mut resumed, mut output) = (Vec::new(), Vec::new());
    for nth in 0..1 + count {
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
