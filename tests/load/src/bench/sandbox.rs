//! A program's first output, out of the sandbox and out of a bare `docker exec`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use bollard::Docker;
use bollard::exec::{CreateExecOptions, StartExecResults};
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{CreateContainerOptions, RemoveContainerOptions, StartContainerOptions};
use futures::StreamExt;
use oxagen_sandbox::{DockerSandbox, Language, Network, RunRequest, SandboxConfig, SandboxDriver};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Baselines;
use crate::report::{Figure, Goal};
use crate::site::Site;
use crate::stats::Sample;

const RUNS: usize = 12;
const CODE: &str = "echo ready";

/// Warm, with a container that stands ready, and cold, without.
pub(super) async fn measure(site: &Site, base: Baselines) -> anyhow::Result<Vec<Figure>> {
    let warm = first_output(site, 2).await?;
    let cold = first_output(site, 0).await?;
    let over = |name: &str, sample: &Sample, most: f64| {
        vec![
            Figure::new(format!("sandbox → first output, {name}, p50"), sample.p50(), "ms")
                .beside("bare exec", base.exec),
            Figure::new("  over a bare exec", sample.p50() - base.exec, "ms").goal(Goal::AtMost(most)),
        ]
    };
    Ok([over("warm", &warm, 50.0), over("cold", &cold, 350.0)].concat())
}

async fn first_output(site: &Site, pool_size: usize) -> anyhow::Result<Sample> {
    let image = site.installation.servers.sandbox_image.as_str();
    let config = SandboxConfig { pool_size, ..SandboxConfig::new(image, format!("load-{}", Uuid::now_v7())) };
    let driver = DockerSandbox::connect(config).await?;
    let mut took = Vec::new();
    for _ in 0..RUNS {
        let ready = Instant::now();
        while driver.warm().await < pool_size && ready.elapsed() < Duration::from_secs(10) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (viewer, mut chunks) = mpsc::channel(8);
        let begun = Instant::now();
        let run = driver.run(program(), viewer, CancellationToken::new());
        let first = async {
            let first = chunks.recv().await.map(|_| begun.elapsed());
            while chunks.recv().await.is_some() {}
            first
        };
        let (outcome, first) = tokio::join!(run, first);
        outcome?;
        took.push(first.context("a program printed nothing")?);
    }
    driver.shutdown().await;
    Ok(Sample::of(took))
}

fn program() -> RunRequest {
    RunRequest {
        call_id: Uuid::now_v7(),
        attempt: 1,
        language: Language::Shell,
        code: CODE.to_owned(),
        files: Vec::new(),
        stdin: None,
        env: BTreeMap::new(),
        timeout: Duration::from_secs(30),
        // As most calls have it: only for the default profile does a container stand ready.
        memory_mib: 512,
        network: Network::Deny,
    }
}

/// `docker exec` in a running container of the same image.
pub(super) async fn bare(docker: &Docker, image: &str) -> anyhow::Result<Sample> {
    let name = format!("oxagen-load-{}", Uuid::now_v7().simple());
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(vec!["sleep".to_owned(), "300".to_owned()]),
        entrypoint: Some(Vec::new()),
        ..Default::default()
    };
    let options = CreateContainerOptions { name: Some(name.clone()), ..Default::default() };
    docker.create_container(Some(options), body).await.context("cannot make a container")?;
    docker.start_container(&name, None::<StartContainerOptions>).await?;
    let mut took = Vec::new();
    let measured = async {
        for _ in 0..RUNS {
            let begun = Instant::now();
            let options = CreateExecOptions {
                cmd: Some(vec!["sh", "-c", CODE]),
                attach_stdout: Some(true),
                ..Default::default()
            };
            let exec = docker.create_exec(&name, options).await?.id;
            let StartExecResults::Attached { mut output, .. } = docker.start_exec(&exec, None).await? else {
                anyhow::bail!("a bare exec gave no output");
            };
            output.next().await.context("a bare exec printed nothing")??;
            took.push(begun.elapsed());
            while output.next().await.is_some() {}
        }
        Ok(())
    };
    let measured = measured.await;
    let options = RemoveContainerOptions { force: true, ..Default::default() };
    docker.remove_container(&name, Some(options)).await?;
    measured.map(|()| Sample::of(took))
}
