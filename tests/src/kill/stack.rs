//! The stack's servers as processes, which may be killed and started again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::process::Command;

use crate::servers::Servers;
use crate::wait::until;

/// The Docker engine's process.
pub(super) const ENGINE: &str = "dockerd";

/// The instance of `dev/stack` whose servers the tests use.
#[derive(Clone, Debug)]
pub struct Stack {
    project: PathBuf,
    folder: PathBuf,
    _turn: Option<Arc<fs::File>>,
}

impl Stack {
    /// The instance that these servers belong to.
    pub(super) fn of(servers: &Servers) -> Self {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
        let stacks = env::var_os("OXAGEN_STACK_DIR").map_or_else(|| project.join(".stack"), PathBuf::from);
        let ours = |folder: &PathBuf| {
            let text = fs::read_to_string(folder.join("env")).unwrap_or_default();
            text.lines().any(|line| line == format!("NATS_URL={}", servers.nats_url))
        };
        let folders = fs::read_dir(&stacks).unwrap().map(|entry| entry.unwrap().path());
        let folder = folders.into_iter().find(ours).expect("the servers are not those of a stack");
        Self { project, folder, _turn: None }
    }

    /// A cluster of three NATS nodes, `nats`, `nats-2` and `nats-3`, and nothing else: an instance of its own, empty.
    /// Gives its addresses too. Whoever asks for it while another process has it waits.
    pub async fn cluster() -> (Self, String) {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
        let stacks = env::var_os("OXAGEN_STACK_DIR").map_or_else(|| project.join(".stack"), PathBuf::from);
        fs::create_dir_all(&stacks).unwrap();
        let turn = fs::File::create(stacks.join("cluster.turn")).unwrap();
        let turn = tokio::task::spawn_blocking(move || turn.lock().map(|()| turn)).await.unwrap().unwrap();
        let stack = Self { folder: stacks.join("cluster"), project, _turn: Some(Arc::new(turn)) };
        stack.wipe().await;
        stack.run(&["up", "--only", "nats", "--nats-nodes", "3"]).await;
        let text = fs::read_to_string(stack.folder.join("env")).unwrap();
        let urls = text.lines().find_map(|line| line.strip_prefix("NATS_URL=")).unwrap().to_owned();
        (stack, urls.trim_matches('\'').to_owned())
    }

    /// Whether the Docker engine is this instance's own, and nobody else is disturbed when it dies.
    pub fn has_own_engine(&self) -> bool {
        self.folder.join("run").join(ENGINE).with_extension("pid").exists()
    }

    /// kill -9.
    pub async fn kill(&self, server: &str) {
        let file = self.folder.join("run").join(format!("{server}.pid"));
        let text = fs::read_to_string(&file).unwrap();
        let pid = text.split(' ').next().unwrap().to_owned();
        let killed = Command::new("kill").args(["-KILL", &pid]).status().await.unwrap();
        assert!(killed.success(), "{server} did not run");
        let process = PathBuf::from("/proc").join(&pid).join("stat");
        let gone = || fs::read_to_string(&process).is_ok_and(|text| !text.contains(") Z ")).then_some(());
        until("the server's end", async || if gone().is_some() { None } else { Some(()) }).await;
    }

    /// Starts it again, or those of its nodes that do not run; returns when it answers.
    pub async fn start(&self, server: &str) {
        self.run(&["up", "--only", server]).await;
    }

    /// Stops what runs and deletes its data.
    pub async fn wipe(&self) {
        self.run(&["wipe"]).await;
    }

    async fn run(&self, arguments: &[&str]) {
        let mut command = Command::new(self.project.join("dev/stack"));
        command.args(arguments).arg("--name").arg(self.folder.file_name().unwrap());
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Starts whatever does not run.
    pub async fn mend(&self) {
        self.start("postgres,nats,clickhouse,neo4j,docker").await;
    }

    /// The folder of a stream on the NATS server.
    pub(super) fn stream_folder(&self, stream: &str) -> PathBuf {
        self.folder.join("nats/nats-of-1/jetstream/$G/streams").join(stream)
    }
}
