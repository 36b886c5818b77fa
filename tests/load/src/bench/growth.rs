//! Whether things take as long with a long history as with a short one, and in a long conversation as in a short one.

use std::time::{Duration, Instant};

use anyhow::Context;
use oxagen_tests::{Workspace, soon};
use reqwest::Method;
use serde_json::json;

use super::turns::{Talk, approvals, overhead};
use crate::drive::{Until, drive};
use crate::history::Author;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::Sample;

/// Facts in the journal.
const FACTS: [u64; 2] = [1_000, 100_000];
/// Turns in a conversation.
const TURNS: [usize; 2] = [10, 500];
/// How often each thing is done.
const RENAMES: usize = 200;
const CALLS: u64 = 150;
const TALKS: usize = 30;
const APPROVALS: usize = 8;
/// How much longer something may take than with the shortest history.
const MOST: f64 = 1.2;

/// What was measured: its name, and how long it took.
type Latency = (&'static str, Sample);

/// Latencies at each size of the journal, then at each length of a conversation.
pub(super) async fn measure(site: &Site, more: Option<u64>) -> anyhow::Result<Vec<Figure>> {
    let running = site.start().await;
    let workspace = site.installation.workspace(&running.url).await;
    let author = Author::of(site, &workspace).await?;
    let mut sizes = Vec::new();
    for facts in FACTS.into_iter().chain(more) {
        fill(site, &author, facts).await?;
        println!("  at {facts} facts …");
        sizes.push((format!("{facts} facts"), of_journal(site, &running, &workspace).await?));
    }
    let mut lengths = Vec::new();
    for turns in TURNS {
        let conversation = author.conversation(turns).await?;
        site.settle().await?;
        println!("  at {turns} turns …");
        lengths.push((
            format!("{turns} turns"),
            of_conversation(site, &running, &workspace, &conversation).await?,
        ));
    }
    Ok([figures(&sizes), figures(&lengths)].concat())
}

/// Makes the journal as long as this.
async fn fill(site: &Site, author: &Author, facts: u64) -> anyhow::Result<()> {
    const STEP: u64 = 20_000;
    site.settle().await?;
    while let head = site.head().await?
        && head < facts
    {
        author.fill(STEP.min(facts - head)).await?;
        site.settle().await?;
        println!("  {} facts, settled …", site.head().await?);
    }
    Ok(())
}

async fn of_journal(site: &Site, running: &Running, workspace: &Workspace) -> anyhow::Result<Vec<Latency>> {
    let conversation = workspace.talk("hello").await.0.conversation;
    let renamed = renames(site, workspace, &conversation).await?;
    let driven = drive(std::slice::from_ref(workspace), 1, Until::Calls(CALLS)).await;
    anyhow::ensure!(driven.errors.is_empty(), "a call failed: {}", driven.errors[0]);
    let turn = overhead(site, running, &Talk::new(workspace), TALKS).await?;
    let (resumed, _) = approvals(site, workspace, APPROVALS).await?;
    Ok(vec![
        ("command → SSE frame", renamed),
        ("call → result", driven.latency),
        ("turn with three calls, without the model", turn),
        ("approve → first resumed fact", resumed),
    ])
}

async fn of_conversation(
    site: &Site,
    running: &Running,
    workspace: &Workspace,
    conversation: &str,
) -> anyhow::Result<Vec<Latency>> {
    let renamed = renames(site, workspace, conversation).await?;
    let turn = overhead(site, running, &Talk::inside(workspace, conversation), TALKS).await?;
    Ok(vec![("command → SSE frame", renamed), ("turn with three calls, without the model", turn)])
}

/// One command after the other, until the screen shows it.
async fn renames(site: &Site, workspace: &Workspace, conversation: &str) -> anyhow::Result<Sample> {
    let path = format!("/v1/conversations/{conversation}/stream?after={}&follow=true", site.head().await?);
    let mut events = workspace.stream(&path, None).await;
    let path = format!("/v1/conversations/{conversation}");
    let mut took: Vec<Duration> = Vec::new();
    for nth in 0..RENAMES {
        let title = format!("title {nth}");
        let request = workspace.http.request(Method::PATCH, &path).json(&json!({"title": title}));
        let begun = Instant::now();
        let answer = tokio::spawn(request.send());
        loop {
            let event = soon("a command on the screen", events.next()).await.context("the stream ended")?;
            if event.data["payload"]["title"] == title {
                break;
            }
        }
        took.push(begun.elapsed());
        let status = answer.await??.status();
        anyhow::ensure!(status == 204, "a command was refused: {status}");
    }
    Ok(Sample::of(took))
}

/// Each latency of each size, beside that of the first size.
fn figures(sizes: &[(String, Vec<Latency>)]) -> Vec<Figure> {
    let Some((first, shortest)) = sizes.first() else { return Vec::new() };
    let mut figures = Vec::new();
    for (nth, (name, base)) in shortest.iter().enumerate() {
        figures.push(Figure::new(format!("{name}, {first}, p50"), base.p50(), "ms"));
        figures.push(Figure::new("  p99", base.p99(), "ms"));
        for (size, latencies) in &sizes[1..] {
            let (_, sample) = &latencies[nth];
            let beside = Figure::new(format!("{name}, {size}, p50"), sample.p50(), "ms");
            figures.push(beside.beside("the shortest", base.p50()).goal(Goal::AtMost(base.p50() * MOST)));
            figures.push(Figure::new("  p99", sample.p99(), "ms"));
        }
    }
    figures
}
