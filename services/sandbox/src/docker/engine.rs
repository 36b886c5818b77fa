//! The Docker engine: the few requests a sandbox needs, and what their failures mean.

use std::collections::HashMap;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error as EngineError;
use bollard::query_parameters::{
    CreateContainerOptions, EventsOptions, KillContainerOptions, ListContainersOptions,
    RemoveContainerOptions, RenameContainerOptions, StatsOptions,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio_util::task::TaskTracker;

use crate::docker::container::{INSTALLATION_LABEL, Origin, Profile, RUNNER_LABEL, specification};
use crate::{SandboxConfig, SandboxError};

/// How often a container that would not go is tried again, and how long after.
const REMOVAL_RETRIES: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(60)];

/// A connection to the engine, and what containers are made from.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) docker: Docker,
    pub(crate) config: SandboxConfig,
    address: String,
    image_id: String,
    tasks: TaskTracker,
}

impl Engine {
    /// Connects and finds the image.
    pub(crate) async fn connect(config: SandboxConfig, tasks: TaskTracker) -> Result<Self, SandboxError> {
        let address = config
            .docker_host
            .clone()
            .or_else(|| std::env::var("DOCKER_HOST").ok())
            .unwrap_or_else(|| "unix:///var/run/docker.sock".to_owned());
        let unreachable = |cause| SandboxError::Unreachable { address: address.clone(), cause };
        let docker = match &config.docker_host {
            Some(host) => Docker::connect_with_host(host),
            None => Docker::connect_with_defaults(),
        };
        let docker = docker.map_err(unreachable)?.negotiate_version().await.map_err(unreachable)?;
        let mut engine = Self { docker, config, address, image_id: String::new(), tasks };
        let image = engine.docker.inspect_image(&engine.config.image).await;
        let image = image.map_err(engine.failed_to("inspect the sandbox image"))?;
        engine.image_id = image.id.unwrap_or_else(|| engine.config.image.clone());
        tracing::info!(image = engine.config.image, id = engine.image_id, "sandbox image found");
        Ok(engine)
    }

    /// Makes and starts a container under a name. A stale one of that name goes first.
    ///
    /// Returns its id. Nothing is left behind on failure.
    pub(crate) async fn create(
        &self,
        name: &str,
        profile: Profile,
        origin: Origin,
    ) -> Result<String, SandboxError> {
        let create = || {
            let options = CreateContainerOptions { name: Some(name.to_owned()), ..Default::default() };
            let body = specification(&self.config, &self.image_id, profile, origin);
            self.docker.create_container(Some(options), body)
        };
        let created = match create().await {
            Err(error) if status(&error) == Some(409) => {
                self.remove_stale(name).await?;
                create().await
            }
            other => other,
        };
        if created.as_ref().is_err_and(is_connection) {
            // It may have been made all the same, and nobody was told its id.
            self.remove_later(name);
        }
        let id = created.map_err(self.failed_to("create a container"))?.id;
        if let Err(error) = self.docker.start_container(&id, None).await {
            self.remove(&id).await;
            return Err(self.failed_to("start a container")(error));
        }
        Ok(id)
    }

    /// Gives a container the name of the call it was taken for. A stale one of that name goes first.
    pub(crate) async fn rename(&self, id: &str, name: &str) -> Result<(), SandboxError> {
        let rename = || self.docker.rename_container(id, RenameContainerOptions { name: name.to_owned() });
        let renamed = match rename().await {
            Err(error) if status(&error) == Some(409) => {
                self.remove_stale(name).await?;
                rename().await
            }
            other => other,
        };
        renamed.map_err(self.failed_to("rename a container"))
    }

    /// Kills everything in a container; one that is not running is left as it is.
    pub(crate) async fn kill(&self, id: &str) {
        let killed =
            self.docker.kill_container(id, Some(KillContainerOptions { signal: "KILL".to_owned() })).await;
        if let Err(error) = killed
            && !matches!(status(&error), Some(404 | 409))
        {
            tracing::warn!(container = id, %error, "could not kill a sandbox container");
        }
    }

    /// Removes a container and all that runs in it. One that will not go now is tried again in the background.
    pub(crate) async fn remove(&self, id: &str) {
        let Err(error) = self.try_remove(id).await else { return };
        tracing::warn!(container = id, %error, "could not remove a sandbox container, trying again");
        self.remove_later(id);
    }

    fn remove_later(&self, container: &str) {
        let (engine, container) = (self.clone(), container.to_owned());
        self.tasks.spawn(async move {
            for pause in REMOVAL_RETRIES {
                tokio::time::sleep(pause).await;
                match engine.remove_own(&container).await {
                    Ok(()) => return,
                    Err(error) => {
                        tracing::warn!(container, %error, "could not remove a sandbox container")
                    }
                }
            }
        });
    }

    /// Removes a container of this runner by its id or its name. By now the name may be another runner's.
    async fn remove_own(&self, container: &str) -> Result<(), SandboxError> {
        let found = match self.docker.inspect_container(container, None).await {
            Err(error) if status(&error) == Some(404) => return Ok(()),
            found => found.map_err(self.failed_to("look for a container"))?,
        };
        let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
        match (found.id, labels.get(RUNNER_LABEL)) {
            (Some(id), Some(runner)) if *runner == self.config.runner_id => self.try_remove(&id).await,
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Removes a container and all that runs in it. One that is gone, or going, counts as removed.
    pub(crate) async fn try_remove(&self, id: &str) -> Result<(), SandboxError> {
        let options = RemoveContainerOptions { force: true, v: true, ..Default::default() };
        match self.docker.remove_container(id, Some(options)).await {
            Err(error) if !matches!(status(&error), Some(404 | 409)) => {
                Err(self.failed_to("remove a container")(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The containers that belong to any runner of this installation, dead or alive: each one's id and its runner's.
    pub(crate) async fn owned(&self) -> Result<Vec<(String, String)>, SandboxError> {
        let own = format!("{INSTALLATION_LABEL}={}", self.config.installation);
        let filters = HashMap::from([("label".to_owned(), vec![RUNNER_LABEL.to_owned(), own])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..Default::default() };
        let listed = self.docker.list_containers(Some(options)).await;
        let listed = listed.map_err(self.failed_to("list containers"))?;
        let owned = listed.into_iter().filter_map(|container| {
            let runner = container.labels?.remove(RUNNER_LABEL)?;
            Some((container.id?, runner))
        });
        Ok(owned.collect())
    }

    /// One item each time the memory limit kills a process of the container, from the container's beginning.
    /// The container's own state tells it only for its first process, and only on newer engines for the others.
    pub(crate) fn memory_kills(&self, id: &str) -> BoxStream<'static, ()> {
        let only = |key: &str, value: &str| (key.to_owned(), vec![value.to_owned()]);
        let filters = HashMap::from([only("container", id), only("event", "oom")]);
        let options = EventsOptions { since: Some("1".to_owned()), until: None, filters: Some(filters) };
        self.docker.events(Some(options)).filter_map(async |event| event.ok().map(drop)).fuse().boxed()
    }

    /// How many processes are in a container now; none when the engine does not say.
    pub(crate) async fn processes(&self, id: &str) -> Option<u64> {
        let options = StatsOptions { stream: false, one_shot: true };
        self.docker.stats(id, Some(options)).boxed().next().await?.ok()?.pids_stats?.current
    }

    /// What a failed request means.
    pub(crate) fn failed_to(&self, doing: &'static str) -> impl Fn(EngineError) -> SandboxError {
        move |cause| {
            let address = self.address.clone();
            if is_missing_image(&cause) {
                SandboxError::ImageMissing { image: self.config.image.clone(), address }
            } else if is_connection(&cause) {
                SandboxError::Unreachable { address, cause }
            } else {
                SandboxError::Engine { doing, cause }
            }
        }
    }

    /// Removes a container that stands in the way of a name, if it is a runner's.
    async fn remove_stale(&self, name: &str) -> Result<(), SandboxError> {
        let found = self.docker.inspect_container(name, None).await;
        let Ok(container) = found else { return Ok(()) };
        let labels = container.config.and_then(|config| config.labels).unwrap_or_default();
        if labels.contains_key(RUNNER_LABEL) {
            tracing::warn!(name, "removing a stale sandbox container");
            self.try_remove(name).await?;
        }
        Ok(())
    }
}

/// The status the engine answered with, if it answered.
pub(crate) fn status(error: &EngineError) -> Option<u16> {
    if let EngineError::DockerResponseServerError { status_code, .. } = error {
        Some(*status_code)
    } else {
        None
    }
}

fn is_missing_image(error: &EngineError) -> bool {
    let text = if let EngineError::DockerResponseServerError { message, .. } = error { message } else { "" };
    status(error) == Some(404) && text.to_lowercase().contains("such image")
}

fn is_connection(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::HyperLegacyError { .. }
            | EngineError::HyperResponseError { .. }
            | EngineError::IOError { .. }
            | EngineError::RequestTimeoutError
            | EngineError::SocketNotFoundError(_)
    )
}
