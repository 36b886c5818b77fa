//! The settings of the Docker driver.

/// How the Docker driver makes its containers.
#[derive(Debug, Clone)]
pub struct SandboxConfig {
    /// The image all programs run in, as the engine knows it (`OXAGEN_SANDBOX_IMAGE`).
    pub image: String,
    /// The id of the runner instance that owns the containers. New at each start of a process, so that a later
    /// start can tell what an earlier one left behind.
    pub runner_id: String,
    /// The installation that the runner belongs to. An engine may serve several, and none can tell whether
    /// another one's runner lives; so each clears away only what is its own.
    pub installation: String,
    /// The engine's address. None: `DOCKER_HOST`, else the local socket.
    pub docker_host: Option<String>,
    /// How many unused containers of the default profile stand ready. 0 turns the pool off.
    pub pool_size: usize,
    /// CPUs a program may use, as a share of one: 0.5 is half of one CPU.
    pub cpus: f64,
    /// Processes and threads a program may have at once.
    pub pids: i64,
    /// The engine's network that programs with a network join; a place to filter what they reach.
    pub network: String,
}

impl SandboxConfig {
    /// The usual settings: two warm containers, half a CPU and 128 processes a program, the engine of `DOCKER_HOST`.
    pub fn new(image: impl Into<String>, runner_id: impl Into<String>) -> Self {
        Self {
            image: image.into(),
            runner_id: runner_id.into(),
            installation: "oxagen".to_owned(),
            docker_host: None,
            pool_size: 2,
            cpus: 0.5,
            pids: 128,
            network: "bridge".to_owned(),
        }
    }
}
