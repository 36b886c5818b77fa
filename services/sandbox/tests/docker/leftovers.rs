//! What dead runners leave behind, and what is none of ours.

use bollard::Docker;
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{CreateContainerOptions, RemoveContainerOptions};
use futures::FutureExt;
use oxagen_sandbox::{DockerSandbox, INSTALLATION_LABEL, RUNNER_LABEL, SandboxDriver, SandboxError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::bench::{bench, bench_with, config, containers_of, docker, shell};

/// A container as a runner that was killed may leave it; without a runner it is a stranger's.
async fn leftover(
    docker: &Docker,
    name: Option<String>,
    runner: Option<&str>,
    command: Option<&str>,
) -> String {
    let body = ContainerCreateBody {
        image: Some(config().image),
        cmd: Some(["/bin/sh", "-c", command.unwrap_or("true")].map(str::to_owned).to_vec()),
        labels: runner.map(|runner| {
            let installation = config().installation;
            [(RUNNER_LABEL.to_owned(), runner.to_owned()), (INSTALLATION_LABEL.to_owned(), installation)]
                .into()
        }),
        host_config: Some(HostConfig { network_mode: Some("none".to_owned()), ..Default::default() }),
        ..Default::default()
    };
    let options = CreateContainerOptions { name, ..Default::default() };
    let id = docker.create_container(Some(options), body).await.unwrap().id;
    if command.is_some() {
        docker.start_container(&id, None).await.unwrap();
    }
    id
}

async fn exists(docker: &Docker, id: &str) -> bool {
    docker.inspect_container(id, None).await.is_ok()
}

async fn remove(docker: &Docker, id: &str) {
    docker
        .remove_container(id, Some(RemoveContainerOptions { force: true, ..Default::default() }))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn f26_dead_owners_are_swept_living_ones_and_strangers_stay() {
    let (dead, alive) = (format!("dead-{}", Uuid::now_v7()), format!("alive-{}", Uuid::now_v7()));
    let bench = bench_with(|config| config.pool_size = 1).await;
    let docker = &bench.docker;
    leftover(docker, None, Some(&dead), None).await;
    leftover(docker, None, Some(&dead), Some("sleep 1000")).await;
    leftover(docker, None, Some(&dead), Some("exit 3")).await;
    let living = leftover(docker, None, Some(&alive), Some("sleep 1000")).await;
    let stranger = leftover(docker, None, None, Some("sleep 1000")).await;

    // Other tests and runners share the engine: only one id is known to be dead.
    let gone = dead.clone();
    let is_alive = move |runner: String| std::future::ready(runner != gone).boxed();
    assert_eq!(bench.driver.reap(&is_alive).await.unwrap(), 3);
    assert_eq!(bench.driver.reap(&is_alive).await.unwrap(), 0);
    assert_eq!(containers_of(docker, &dead).await, []);
    assert!(exists(docker, &living).await && exists(docker, &stranger).await);

    // Its own containers are never swept, whatever the check says.
    let own = bench.runner.clone();
    bench.driver.reap(&move |runner: String| std::future::ready(runner != own).boxed()).await.unwrap();
    let mut request = shell("echo still works");
    request.memory_mib = 512;
    assert_eq!(bench.run(request).await.stdout, "still works\n");
    remove(docker, &living).await;
    remove(docker, &stranger).await;
    bench.close().await;
}

#[test]
fn f26_a_runner_killed_in_mid_run_leaves_what_the_next_one_sweeps() {
    let (killed, next) = (runtime(), runtime());
    let config = config();
    let runner = config.runner_id.clone();
    let driver = killed.block_on(async {
        let driver = DockerSandbox::connect(config).await.unwrap();
        let (viewer, mut chunks) = mpsc::channel(1);
        let run = driver.run(shell("echo begun; sleep 1000"), viewer, CancellationToken::new());
        tokio::select! {
            biased;
            _ = run => panic!("the program ended"),
            chunk = chunks.recv() => chunk.unwrap(),
        };
        driver
    });
    // Nothing of that runtime gets another turn, as after a kill.
    killed.shutdown_background();
    next.block_on(async {
        let docker = docker().await;
        assert!(!containers_of(&docker, &runner).await.is_empty(), "the kill left something");
        let bench = bench().await;
        let gone = runner.clone();
        bench.driver.reap(&move |id: String| std::future::ready(id != gone).boxed()).await.unwrap();
        assert_eq!(containers_of(&docker, &runner).await, []);
        bench.close().await;
    });
    drop(driver);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[tokio::test]
async fn f26_a_stale_container_of_the_same_call_makes_way() {
    let bench = bench_with(|config| config.pool_size = 1).await;
    for memory_mib in [512, 64] {
        let mut request = shell("echo second attempt");
        request.memory_mib = memory_mib;
        request.attempt = 2;
        let name = format!("oxagen-{}", request.call_id);
        let stale = leftover(&bench.docker, Some(name), Some("an earlier runner"), Some("sleep 1000")).await;
        assert_eq!(bench.run(request).await.stdout, "second attempt\n");
        assert!(!exists(&bench.docker, &stale).await);
    }
    bench.close().await;
}

#[tokio::test]
async fn f26_warm_containers_that_died_are_not_used() {
    let bench = bench_with(|config| config.pool_size = 1).await;
    bench.until_warm().await;
    let warm = bench.containers().await;
    bench.docker.kill_container(warm[0].id.as_deref().unwrap(), None).await.unwrap();
    let mut request = shell("echo on another one");
    request.memory_mib = 512;
    assert_eq!(bench.run(request).await.stdout, "on another one\n");
    bench.close().await;
}

#[tokio::test]
async fn f26_a_container_that_vanishes_in_mid_run_is_an_error_that_says_so() {
    let bench = bench().await;
    let request = shell("echo begun; sleep 1000");
    let name = format!("oxagen-{}", request.call_id);
    let (viewer, mut chunks) = mpsc::channel(1);
    let run = bench.driver.run(request, viewer, CancellationToken::new());
    let (outcome, ()) = tokio::join!(run, async {
        chunks.recv().await.unwrap();
        remove(&bench.docker, &name).await;
    });
    match outcome {
        Err(error) => assert!(matches!(error, SandboxError::Lost { .. }) && error.may_have_run(), "{error}"),
        // The engine may still know how the killed program ended.
        Ok(outcome) => assert_eq!(outcome.exit_code, Some(137)),
    }
    bench.close().await;
}
