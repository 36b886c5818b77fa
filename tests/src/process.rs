//! `oxagen` as a child process, which may be killed.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::http::Http;
use crate::wait::until;

/// Ends a child with its parent, also when a test run is killed: there is no other way without unsafe code.
const SETPRIV: &str = "/usr/bin/setpriv";

/// A running `oxagen`. Killed when it is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
    /// Its gateway, or the address of its health checks.
    pub url: String,
}

/// The program that belongs to these tests: it lies where cargo has put them.
pub(crate) fn program() -> PathBuf {
    let program = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("oxagen");
    // A program that lies beside its tests, as in the soak, has no `deps` folder between.
    let beside = env::current_exe().unwrap().with_file_name("oxagen");
    let program = if program.is_file() { program } else { beside };
    assert!(program.is_file(), "{} is not there: cargo build --workspace --bins", program.display());
    program
}

/// A command with these settings and no other environment, in this folder.
pub(crate) fn command(settings: &BTreeMap<String, String>, arguments: &[&str], folder: &Path) -> Command {
    let mut command = if Path::new(SETPRIV).is_file() {
        let mut command = Command::new(SETPRIV);
        command.args(["--pdeathsig", "KILL", "--"]).arg(program());
        command
    } else {
        Command::new(program())
    };
    command
        .args(arguments)
        .env_clear()
        .envs(["PATH", "HOME", "TMPDIR"].into_iter().filter_map(|name| Some((name, env::var_os(name)?))))
        .envs(settings)
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

impl Process {
    /// Starts it; it may not be ready yet.
    pub(crate) fn start(settings: &BTreeMap<String, String>, arguments: &[&str], log: PathBuf) -> Self {
        let output = File::create(&log).unwrap();
        let mut command = command(settings, arguments, log.parent().unwrap());
        let child = command.stdout(output.try_clone().unwrap()).stderr(output).spawn().unwrap();
        Self { child, log, url: String::new() }
    }

    /// Waits until it says that it is ready.
    pub async fn ready(&mut self) {
        let http = Http::open(&self.url);
        let what = format!("{} being ready; its log is {}", self.url, self.log.display());
        until(&what, async || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("oxagen ended while it started ({status}); its log:\n{}", self.log());
            }
            (http.try_get("/readyz").await?.status == 200).then_some(())
        })
        .await;
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        let what = format!("the end of the process; log {}", self.log.display());
        until(&what, async || self.child.try_wait().unwrap()).await
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// SIGTERM, then waits for its end.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.ended().await
    }

    /// Its number among the system's processes.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A panic in a task is a defect even where the test would not notice it.
        let panicked = self.log().lines().find(|line| line.contains("panicked at")).map(str::to_owned);
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let (Some(line), false) = (panicked, std::thread::panicking()) {
            panic!("oxagen panicked: {line}; log {}", self.log.display());
        }
    }
}
