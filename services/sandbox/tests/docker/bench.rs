//! What the tests share: a driver with a runner id of its own, and short ways to ask for a run.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bollard::Docker;
use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptions;
use oxagen_sandbox::{
    Channel, Chunk, DockerSandbox, InputFile, Language, Network, RUNNER_LABEL, RunOutcome, RunRequest,
    SandboxConfig, SandboxDriver,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A driver and the engine it uses.
pub(crate) struct Bench {
    pub(crate) driver: DockerSandbox,
    pub(crate) docker: Docker,
    pub(crate) runner: String,
}

/// A driver without a warm pool.
pub(crate) async fn bench() -> Bench {
    bench_with(|config| config.pool_size = 0).await
}

/// A driver with other settings than the usual.
pub(crate) async fn bench_with(adjust: impl FnOnce(&mut SandboxConfig)) -> Bench {
    let mut config = config();
    adjust(&mut config);
    let runner = config.runner_id.clone();
    let driver = DockerSandbox::connect(config).await.expect("the engine of DOCKER_HOST answers");
    Bench { driver, docker: docker().await, runner }
}

/// The settings of a new runner.
pub(crate) fn config() -> SandboxConfig {
    for name in ["DOCKER_HOST", "OXAGEN_SANDBOX_IMAGE"] {
        assert!(std::env::var(name).is_ok(), "{name} is not set: `make test` starts an engine and sets it");
    }
    SandboxConfig::new(std::env::var("OXAGEN_SANDBOX_IMAGE").unwrap(), format!("test-{}", Uuid::now_v7()))
}

/// The tests' own connection to the engine.
pub(crate) async fn docker() -> Docker {
    Docker::connect_with_defaults().unwrap().negotiate_version().await.unwrap()
}

/// A program with generous limits.
pub(crate) fn program(language: Language, code: &str) -> RunRequest {
    RunRequest {
        call_id: Uuid::now_v7(),
        attempt: 1,
        language,
        code: code.to_owned(),
        files: Vec::new(),
        stdin: None,
        env: BTreeMap::new(),
        timeout: Duration::from_secs(600),
        memory_mib: 128,
        network: Network::Deny,
    }
}

pub(crate) fn shell(code: &str) -> RunRequest {
    program(Language::Shell, code)
}

pub(crate) fn python(code: &str) -> RunRequest {
    program(Language::Python, code)
}

pub(crate) fn file(path: &str, content: impl Into<Vec<u8>>) -> InputFile {
    InputFile { path: path.to_owned(), content: content.into().into() }
}

impl Bench {
    /// Runs a program to its end; what came out on the way must be what the outcome has.
    pub(crate) async fn run(&self, request: RunRequest) -> RunOutcome {
        let (viewer, mut chunks) = mpsc::channel(8);
        let driver: &dyn SandboxDriver = &self.driver;
        let run = driver.run(request, viewer, CancellationToken::new());
        let (outcome, seen) = tokio::join!(run, async {
            let mut seen =
                HashMap::from([(Channel::Stdout, String::new()), (Channel::Stderr, String::new())]);
            while let Some(Chunk { channel, text, offset }) = chunks.recv().await {
                let stream = seen.get_mut(&channel).unwrap();
                assert_eq!(offset, stream.len() as u64, "a piece of {channel:?} is out of place");
                stream.push_str(&text);
            }
            seen
        });
        let outcome = outcome.expect("the sandbox does its part");
        assert!(seen[&Channel::Stdout] == outcome.stdout, "stdout on the way differs from the outcome's");
        assert!(seen[&Channel::Stderr] == outcome.stderr, "stderr on the way differs from the outcome's");
        outcome
    }

    /// Waits until a warm container is ready.
    pub(crate) async fn until_warm(&self) {
        while self.driver.warm().await == 0 {
            self.containers().await;
        }
    }

    /// The containers this bench's runner has on the engine, whatever their state.
    pub(crate) async fn containers(&self) -> Vec<ContainerSummary> {
        containers_of(&self.docker, &self.runner).await
    }

    /// Ends the bench; nothing of it may be left on the engine.
    pub(crate) async fn close(self) {
        self.driver.shutdown().await;
        assert_eq!(self.containers().await, [], "containers were left behind");
    }
}

/// The containers a runner has on the engine, whatever their state.
pub(crate) async fn containers_of(docker: &Docker, runner: &str) -> Vec<ContainerSummary> {
    let filters = HashMap::from([("label".to_owned(), vec![format!("{RUNNER_LABEL}={runner}")])]);
    let options = ListContainersOptions { all: true, filters: Some(filters), ..Default::default() };
    docker.list_containers(Some(options)).await.unwrap()
}
