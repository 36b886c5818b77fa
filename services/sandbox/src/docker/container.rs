//! How a sandbox container is made. Whoever changes a line here changes what a program can do.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, ResourcesUlimits};

use crate::{Network, RunRequest, SandboxConfig};

/// The label that names the runner instance a container belongs to.
pub const RUNNER_LABEL: &str = "oxagen.runner";
/// The label that names the installation whose runner that is.
pub const INSTALLATION_LABEL: &str = "oxagen.installation";
/// The label that tells a container made ahead of its call (`warm`) from one made for it (`cold`).
pub const POOL_LABEL: &str = "oxagen.pool";

/// Who programs run as: nobody.
pub(crate) const USER: &str = "65534:65534";
/// What keeps the container up until its program is put in. A shell, because the first process must also reap the
/// orphans a program leaves, or they would fill its share of processes; and no process inside can kill it.
const IDLE: [&str; 3] = ["/bin/sh", "-c", "while :; do sleep infinity & wait; done"];

/// The limits that are fixed when a container is made. Containers of one profile are interchangeable until used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profile {
    memory_mib: u64,
    network: Network,
}

impl Profile {
    /// What most calls ask for, and the only profile with a warm pool.
    pub(crate) const DEFAULT: Profile = Profile { memory_mib: 512, network: Network::Deny };

    pub(crate) fn of(request: &RunRequest) -> Self {
        Self { memory_mib: request.memory_mib, network: request.network }
    }
}

/// Whether a container stands ready for any call or was made for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Warm,
    Cold,
}

/// The whole specification of a container.
pub(crate) fn specification(
    config: &SandboxConfig,
    image_id: &str,
    profile: Profile,
    origin: Origin,
) -> ContainerCreateBody {
    let pool = match origin {
        Origin::Warm => "warm",
        Origin::Cold => "cold",
    };
    let labels = [
        (INSTALLATION_LABEL, config.installation.as_str()),
        (RUNNER_LABEL, config.runner_id.as_str()),
        (POOL_LABEL, pool),
    ];
    ContainerCreateBody {
        image: Some(image_id.to_owned()),
        hostname: Some("sandbox".to_owned()),
        user: Some(USER.to_owned()),
        working_dir: Some("/work".to_owned()),
        entrypoint: Some(IDLE.map(str::to_owned).to_vec()),
        cmd: Some(Vec::new()),
        labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
        host_config: Some(confinement(config, profile)),
        ..Default::default()
    }
}

/// The default seccomp and AppArmor profiles stay in force because nothing here turns them off.
fn confinement(config: &SandboxConfig, profile: Profile) -> HostConfig {
    let memory = profile.memory_mib.saturating_mul(1 << 20).try_into().unwrap_or(i64::MAX);
    let (network, dns) = match profile.network {
        // Without a network the engine would still copy the host's name servers into the container.
        Network::Deny => ("none", Some(vec!["127.0.0.1".to_owned()])),
        Network::Allow => (config.network.as_str(), None),
    };
    HostConfig {
        network_mode: Some(network.to_owned()),
        dns,
        readonly_rootfs: Some(true),
        tmpfs: Some(scratch(profile.memory_mib)),
        memory: Some(memory),
        memory_swap: Some(memory),
        nano_cpus: Some((config.cpus * 1e9) as i64),
        pids_limit: Some(config.pids),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        ulimits: Some(vec![ResourcesUlimits { name: Some("core".to_owned()), soft: Some(0), hard: Some(0) }]),
        // A program can write to the first process's output; with a log that would fill the engine's disk.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..Default::default()
    }
}

/// The two places a program may write to. They count as its memory, so that neither may take all of it.
fn scratch(memory_mib: u64) -> HashMap<String, String> {
    let owned = "mode=1777,uid=65534,gid=65534,nr_inodes=16k,nosuid,nodev";
    let (work, tmp) = (memory_mib / 2, memory_mib / 8);
    HashMap::from([
        ("/work".to_owned(), format!("rw,exec,size={work}m,{owned}")),
        ("/tmp".to_owned(), format!("rw,noexec,size={tmp}m,{owned}")),
    ])
}
