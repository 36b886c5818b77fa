//! The runner and its drivers.

use std::sync::Arc;
use std::time::Duration;

use oxagen_domain::RunnerId;
use oxagen_model::{ApiKey, MaxTokensField, ModelClient, ModelSettings, ReasoningEcho};
use oxagen_runner::{Runner, RunnerOptions};
use oxagen_sandbox::{DockerSandbox, SandboxConfig};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::board::{Board, Watch};
use super::waiting::Server;
use super::{Parts, Role};
use crate::config::{Config, need};
use crate::failure::Failure;

/// Where a Docker engine usually listens.
const DOCKER: &str = "unix:///var/run/docker.sock";

/// Refuses settings that no runner can work with.
pub(super) fn check(config: &Config) -> Result<(), Failure> {
    need(config.model.name.as_ref(), "model.name")?;
    need(config.sandbox.image.as_ref(), "sandbox.image")?;
    model(config).map(drop)
}

/// Runs until told to stop.
pub(super) async fn run(parts: &Parts, board: &Board, stop: CancellationToken) -> Result<(), Failure> {
    let (config, id) = (&parts.config, RunnerId(Uuid::now_v7()));
    let model = model(config)?;
    let identity = parts.commands.journal().identity().await;
    let installation = identity.map_err(|error| Failure::Failed(error.to_string()))?;
    let Some(sandbox) = stop.run_until_cancelled(sandbox(config, id, installation)).await else {
        return Ok(());
    };
    let runner = Runner::new(RunnerOptions {
        id,
        commands: parts.commands.clone(),
        bus: parts.bus.clone(),
        queries: parts.queries.clone(),
        model,
        default_model: need(config.model.name.as_ref(), "model.name")?.to_owned(),
        sandbox: Arc::new(sandbox?),
        concurrency: config.runner.turns as usize,
    });
    board.set(Role::Runner, Watch::Runs);
    runner.run(stop).await.map_err(|error| Failure::Failed(error.to_string()))
}

fn model(config: &Config) -> Result<ModelClient, Failure> {
    let model = &config.model;
    let url = need(model.url.as_ref(), "model.url")?;
    let mut settings = ModelSettings::new(url, model.api_key.as_deref().and_then(ApiKey::new));
    settings.connect_timeout = Duration::from_secs(model.connect_timeout);
    settings.read_timeout = Duration::from_secs(model.read_timeout);
    settings.total_timeout = Duration::from_secs(model.total_timeout);
    settings.reasoning_echo = word::<ReasoningEcho>(&model.reasoning_echo)?;
    settings.max_tokens_field = word::<MaxTokensField>(&model.max_tokens_field)?;
    ModelClient::new(settings).map_err(|error| Failure::Usage(format!("OXAGEN_MODEL_URL: {error}")))
}

/// A word of the configuration as the driver's own type; the configuration has checked it.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_value(Value::from(text)).map_err(|error| Failure::Usage(error.to_string()))
}

async fn sandbox(config: &Config, id: RunnerId, installation: String) -> Result<DockerSandbox, Failure> {
    let sandbox = &config.sandbox;
    let address = sandbox.docker_host.as_deref().unwrap_or(DOCKER);
    let settings = SandboxConfig {
        installation,
        docker_host: sandbox.docker_host.clone(),
        pool_size: sandbox.pool as usize,
        cpus: sandbox.cpus,
        pids: sandbox.pids.into(),
        network: sandbox.network.clone(),
        ..SandboxConfig::new(need(sandbox.image.as_ref(), "sandbox.image")?, id.to_string())
    };
    let server = Server::new("Docker", address, "DOCKER_HOST");
    server.until_it_answers(|| async { Ok(DockerSandbox::connect(settings.clone()).await?) }).await
}
