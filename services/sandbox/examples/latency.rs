//! Measures how soon a program's first output comes, beside a bare exec in a container that already runs.
//!
//! `cargo run --release -p oxagen-sandbox --example latency`, with `DOCKER_HOST` and `OXAGEN_SANDBOX_IMAGE` set.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::exec::StartExecResults;
use bollard::models::{ContainerCreateBody, ExecConfig, HostConfig};
use bollard::query_parameters::RemoveContainerOptions;
use futures::StreamExt;
use oxagen_sandbox::{DockerSandbox, Language, Network, RunRequest, SandboxConfig, SandboxDriver};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const ROUNDS: usize = 30;

#[tokio::main]
async fn main() {
    let image = std::env::var("OXAGEN_SANDBOX_IMAGE").unwrap();
    let driver = DockerSandbox::connect(SandboxConfig::new(&image, "latency")).await.unwrap();
    for (name, memory_mib) in [("warm", 512), ("cold", 256)] {
        let (mut first, mut whole) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            // Time for the pool to fill again, so that each round finds the machine as quiet.
            tokio::time::sleep(Duration::from_millis(700)).await;
            let begun = Instant::now();
            let (viewer, mut chunks) = mpsc::channel(8);
            let run = driver.run(request(memory_mib), viewer, CancellationToken::new());
            let (outcome, ()) = tokio::join!(run, async {
                chunks.recv().await.unwrap();
                first.push(begun.elapsed());
            });
            assert_eq!(outcome.unwrap().exit_code, Some(0));
            whole.push(begun.elapsed());
        }
        report(&format!("{name} run, first output"), first);
        report(&format!("{name} run, container removed"), whole);
    }
    report("bare exec, first output", bare(image).await);
    driver.shutdown().await;
}

fn request(memory_mib: u64) -> RunRequest {
    RunRequest {
        call_id: Uuid::now_v7(),
        attempt: 1,
        language: Language::Python,
        code: "print('hi')".to_owned(),
        files: Vec::new(),
        stdin: None,
        env: BTreeMap::new(),
        timeout: Duration::from_secs(30),
        memory_mib,
        network: Network::Deny,
    }
}

/// The same interpreter by a plain exec, in a container with the same share of a CPU.
async fn bare(image: String) -> Vec<Duration> {
    let docker = Docker::connect_with_defaults().unwrap().negotiate_version().await.unwrap();
    let limits = HostConfig {
        nano_cpus: Some(500_000_000),
        network_mode: Some("none".to_owned()),
        ..Default::default()
    };
    let body = ContainerCreateBody { image: Some(image), host_config: Some(limits), ..Default::default() };
    let id = docker.create_container(None, body).await.unwrap().id;
    docker.start_container(&id, None).await.unwrap();
    let mut first = Vec::new();
    for _ in 0..ROUNDS {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let begun = Instant::now();
        let command = ["python3", "-c", "print('hi')"].map(str::to_owned).to_vec();
        let config = ExecConfig { cmd: Some(command), attach_stdout: Some(true), ..Default::default() };
        let exec = docker.create_exec(&id, config).await.unwrap().id;
        if let StartExecResults::Attached { mut output, .. } = docker.start_exec(&exec, None).await.unwrap() {
            output.next().await.unwrap().unwrap();
        }
        first.push(begun.elapsed());
    }
    docker
        .remove_container(&id, Some(RemoveContainerOptions { force: true, ..Default::default() }))
        .await
        .unwrap();
    first
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("{what:28} median {:4.0} ms   p90 {:4.0} ms   worst {:4.0} ms", at(50), at(90), at(100));
}
