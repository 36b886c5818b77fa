//! Many viewers of one gateway who wait for something to happen: what each of them costs.

use std::time::Duration;

use anyhow::Context;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use reqwest::Method;

use crate::machine::resident;
use crate::report::{Figure, Goal};
use crate::site::{Running, Site};

const VIEWERS: usize = 2_000;
/// Connections that are made at a time.
const AT_ONCE: usize = 100;

/// Opens a stream for each viewer on a conversation of its own kind of silence, and weighs the gateway before and after.
pub(super) async fn measure(site: &Site, running: &Running) -> anyhow::Result<Vec<Figure>> {
    let gateway = running.processes.get("gateway").context("no gateway")?;
    let workspace = site.installation.workspace(&running.url).await;
    let conversation = workspace.say("hello").await.conversation;
    site.settle().await?;
    let path = format!("/v1/conversations/{conversation}/stream?after=0&follow=true");
    let weigh = || resident(gateway.pid()).context("the gateway has no size");
    let (mut opening, mut open, mut before) = (FuturesUnordered::new(), Vec::new(), 0);
    for nth in 0..VIEWERS {
        // The first hundred grow pools and caches, which are not theirs alone.
        if nth == AT_ONCE {
            while let Some(stream) = opening.next().await {
                open.push(first(stream?).await?);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
            before = weigh()?;
        }
        let request = workspace.http.request(Method::GET, &path).header("Accept", "text/event-stream");
        opening.push(request.send());
        if opening.len() >= AT_ONCE
            && let Some(stream) = opening.next().await
        {
            open.push(first(stream?).await?);
        }
    }
    while let Some(stream) = opening.next().await {
        open.push(first(stream?).await?);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = weigh()?;
    let each = (after as f64 - before as f64) / (open.len() - AT_ONCE) as f64;
    Ok(vec![
        Figure::new(format!("memory per idle viewer, {VIEWERS} on one gateway"), each, "KiB")
            .goal(Goal::AtMost(10.0)),
    ])
}

/// Reads the stream's beginning, so that the viewer is really there.
async fn first(mut stream: reqwest::Response) -> anyhow::Result<reqwest::Response> {
    anyhow::ensure!(stream.status() == 200, "a viewer was refused: {}", stream.status());
    stream.chunk().await?;
    Ok(stream)
}
