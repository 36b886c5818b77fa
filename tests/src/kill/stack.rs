//! The stack's servers as processes, which may be killed and started again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::servers::Servers;
use crate::wait::until;

/// The instance of `dev/stack` whose servers the tests use.
#[derive(Clone, Debug)]
pub struct Stack {
    project: PathBuf,
    folder: PathBuf,
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
        Self { project, folder }
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

    /// Starts it again; returns when it answers.
    pub async fn start(&self, server: &str) {
        let name = self.folder.file_name().unwrap();
        let mut command = Command::new(self.project.join("dev/stack"));
        command.arg("up").arg("--name").arg(name).args(["--only", server]);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Starts whatever does not run.
    pub async fn mend(&self) {
        self.start("postgres,nats,clickhouse,neo4j").await;
    }

    /// The folder of a stream on the NATS server.
    pub(super) fn stream_folder(&self, stream: &str) -> PathBuf {
        self.folder.join("nats/nats-of-1/jetstream/$G/streams").join(stream)
    }
}
