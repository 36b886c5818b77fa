//! The sandbox's containers, as the Docker engine lists them.

use std::collections::HashMap;

use bollard::Docker;
use bollard::query_parameters::ListContainersOptions;

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

    async fn list(&self, key: &str, value: &str) -> Vec<String> {
        let filters = HashMap::from([(key.to_owned(), vec![value.to_owned()])]);
        let options = ListContainersOptions { all: true, filters: Some(filters), ..Default::default() };
        let found = self.docker.list_containers(Some(options)).await.unwrap();
        found.into_iter().filter_map(|container| container.id).collect()
    }
}
