//! The sandbox's containers, as the Docker engine lists them.

use std::collections::HashMap;

use bollard::Docker;
use bollard::exec::StartExecOptions;
use bollard::models::ExecConfig;
use bollard::query_parameters::{ListContainersOptions, RemoveContainerOptions};
use futures::StreamExt;
use futures::stream;

/// The label that names the installation a container belongs to: its cluster and its database.
const INSTALLATION: &str = "oxagen.installation";
/// Containers removed at a time.
const AT_ONCE: usize = 8;

/// The engine.
#[derive(Debug)]
pub struct Containers {
    docker: Docker,
}

impl Containers {
    /// The engine at this address.
    pub fn at(host: &str) -> Self {
        let docker = match host.strip_prefix("unix://") {
            Some(_) => Docker::connect_with_unix(host, 30, bollard::API_DEFAULT_VERSION),
            None => Docker::connect_with_http(host, 30, bollard::API_DEFAULT_VERSION),
        };
        Self { docker: docker.unwrap() }
    }

    /// The container that was taken for this call, if it is there.
    pub async fn of_call(&self, call: &str) -> Option<String> {
        self.list("name", &format!("oxagen-{call}")).await.into_iter().next()
    }

    /// The containers that belong to this runner.
    pub async fn of_runner(&self, runner: &str) -> Vec<String> {
        self.list("label", &format!("oxagen.runner={runner}")).await
    }

    /// Lets the call's program go on, which waits for that ([`waits`](crate::waits)); false if there is none yet.
    pub async fn let_go(&self, call: &str) -> bool {
        let Some(container) = self.of_call(call).await else { return false };
        let touch = ["/bin/sh", "-c", ": > /tmp/go"].map(str::to_owned).to_vec();
        let touch = ExecConfig { cmd: Some(touch), ..Default::default() };
        let Ok(exec) = self.docker.create_exec(&container, touch).await else { return false };
        let detached = StartExecOptions { detach: true, ..Default::default() };
        self.docker.start_exec(&exec.id, Some(detached)).await.is_ok()
    }

    /// The containers of all installations: their ids, and the installations as `<cluster>/<database>`.
    pub(crate) async fn labelled(&self) -> Vec<(String, String)> {
        let filters = HashMap::from([("label".to_owned(), vec![INSTALLATION.to_owned()])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..Default::default() };
        let listed = self.docker.list_containers(Some(options)).await.unwrap_or_default();
        let labelled =
            listed.into_iter().filter_map(|found| Some((found.id?, found.labels?.remove(INSTALLATION)?)));
        labelled.collect()
    }

    /// Removes those of these whose installation is to go. Nobody minds one that is gone already.
    pub(crate) async fn remove_of(&self, found: Vec<(String, String)>, is_gone: impl Fn(&str) -> bool) {
        let force = || RemoveContainerOptions { force: true, ..Default::default() };
        let remove = async |id: String| drop(self.docker.remove_container(&id, Some(force())).await);
        let gone = found.into_iter().filter(|(_, installation)| is_gone(installation)).map(|(id, _)| id);
        stream::iter(gone).for_each_concurrent(AT_ONCE, remove).await;
    }

    async fn list(&self, key: &str, value: &str) -> Vec<String> {
        let filters = HashMap::from([(key.to_owned(), vec![value.to_owned()])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..Default::default() };
        let found = self.docker.list_containers(Some(options)).await.unwrap();
        found.into_iter().filter_map(|container| container.id).collect()
    }
}
