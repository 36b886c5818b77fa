//! An installation of its own on the shared servers: a database, streams, an analytic database, a model provider.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use oxagen_commands::{Commands, NewWorkspace};
use oxagen_domain::TenantId;
use oxagen_domain::policy::PolicyDocument;
use oxagen_journal::{Journal, JournalOptions};
use oxagen_scripted_model::ScriptedModel;
use sqlx::{Connection, Executor, PgConnection};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::container::Containers;
use crate::http::Http;
pub(crate) use crate::port::free_port;
use crate::process::{Process, command};
use crate::servers::{Servers, with_database};
use crate::sweep::fresh_name;
use crate::workspace::Workspace;

/// Every role.
pub const ROLES: &[&str] = &[
    "gateway",
    "relay",
    "reactor",
    "runner",
    "projector-postgres",
    "projector-clickhouse",
    "projector-neo4j",
];

/// Installations at a time, as the servers bear only so many connections, whatever the number of cores.
static PLACES: Semaphore = Semaphore::const_new(3);

/// An installation; its processes are started by the test.
pub struct Installation {
    /// Where its servers are.
    pub servers: Servers,
    /// The name of its databases and the prefix of its streams.
    pub name: String,
    /// Its database, as a superuser.
    pub admin_url: String,
    /// Its model provider.
    pub model: ScriptedModel,
    /// The environment of its processes.
    pub settings: BTreeMap<String, String>,
    folder: PathBuf,
    processes: AtomicU32,
    place: Option<SemaphorePermit<'static>>,
}

impl Installation {
    /// Makes an empty one and migrates it, once there is room for it.
    pub async fn new() -> Self {
        let place = PLACES.acquire().await.unwrap();
        let mut made = Self::beside_others().await;
        made.place = Some(place);
        made
    }

    /// Makes one for which there is always room.
    pub(crate) async fn beside_others() -> Self {
        let servers = Servers::from_env();
        let name = fresh_name();
        let mut admin = PgConnection::connect(&servers.database_admin_url).await.unwrap();
        let create = format!("create database {name} owner {}", servers.owner());
        admin.execute(create.as_str()).await.unwrap();
        let admin_url = with_database(&servers.database_admin_url, &name);
        let model = ScriptedModel::start().await.unwrap();
        let folder = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("it").join(&name);
        fs::create_dir_all(&folder).unwrap();
        let settings = settings(&servers, &name, &model.url());
        let made = Self {
            servers,
            name,
            admin_url,
            model,
            settings,
            folder,
            processes: AtomicU32::new(0),
            place: None,
        };
        made.run(&["migrate"], &[]).await.done();
        made
    }

    /// Starts a process with these roles and waits until it is ready.
    pub async fn start(&self, roles: &[&str]) -> Process {
        self.start_with(roles, &[]).await
    }

    /// Starts a process with these roles and settings of its own, and waits until it is ready.
    pub async fn start_with(&self, roles: &[&str], own: &[(&str, &str)]) -> Process {
        let mut process = self.launch(free_port(), roles, own);
        process.ready().await;
        process
    }

    /// Starts a process that may never be ready.
    pub fn spawn(&self, roles: &[&str], own: &[(&str, &str)]) -> Process {
        self.launch(free_port(), roles, own)
    }

    /// Starts a process on this port; it may not be ready yet, and may never be.
    pub fn launch(&self, port: u16, roles: &[&str], own: &[(&str, &str)]) -> Process {
        let door = if roles.contains(&"gateway") { "OXAGEN_LISTEN" } else { "OXAGEN_ADMIN_LISTEN" };
        let listen = format!("127.0.0.1:{port}");
        let settings = self.settings_and(&[&[(door, listen.as_str())], own].concat());
        let arguments: Vec<_> = ["serve"].iter().chain(roles).copied().collect();
        let number = self.processes.fetch_add(1, Ordering::Relaxed);
        let log = self.folder.join(format!("{number}-{}.log", roles.join("+")));
        let mut process = Process::start(&settings, &arguments, log);
        process.url = format!("http://{listen}");
        process
    }

    /// Makes a workspace with an owner's key, to be used at this gateway. Code may run in it.
    pub async fn workspace(&self, gateway: &str) -> Workspace {
        let enabled = ["agent.code.execute".to_owned()].into();
        self.workspace_with(gateway, PolicyDocument { enabled, ..PolicyDocument::default() }).await
    }

    /// Makes another workspace of the same tenant.
    pub async fn beside(&self, workspace: &Workspace) -> Workspace {
        let policy = PolicyDocument::default();
        self.make(&workspace.http.url, policy, workspace.tenant.parse().ok()).await
    }

    /// A workspace in which code may run with network as well: such a run may not happen twice.
    pub async fn workspace_with_network(&self, gateway: &str) -> Workspace {
        let enabled = ["agent.code.execute".to_owned()].into();
        let policy = PolicyDocument {
            tier: "enterprise".to_owned(),
            enabled,
            network: true,
            ..PolicyDocument::default()
        };
        self.workspace_with(gateway, policy).await
    }

    /// Makes a workspace with this policy.
    pub async fn workspace_with(&self, gateway: &str, policy: PolicyDocument) -> Workspace {
        self.make(gateway, policy, None).await
    }

    async fn make(&self, gateway: &str, policy: PolicyDocument, tenant_id: Option<TenantId>) -> Workspace {
        let options = JournalOptions {
            url: self.settings["DATABASE_URL"].clone(),
            max_connections: 1,
            acquire_timeout: Duration::from_secs(30),
        };
        let journal = Journal::connect(&options).await.unwrap();
        let request = NewWorkspace { name: "test".to_owned(), tenant_id, policy };
        let made = Commands::new(journal.clone()).create_workspace(request).await.unwrap();
        journal.pool().close().await;
        let http = Http::open(gateway).with_key(&made.key.secret);
        Workspace { tenant: made.tenant_id.to_string(), id: made.workspace_id.to_string(), http }
    }

    /// Runs `oxagen` with these arguments and more settings to its end.
    pub async fn run(&self, arguments: &[&str], own: &[(&str, &str)]) -> Ran {
        let mut command = command(&self.settings_and(own), arguments, &self.folder);
        // The model provider may run on this very thread.
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn settings_and(&self, own: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.settings.clone().into_iter().chain(own).collect()
    }
}

impl Drop for Installation {
    /// Its runners are gone or killed, and with them whoever would clear away their unused containers.
    fn drop(&mut self) {
        let (host, own) = (self.servers.docker_host.clone(), format!("/{}", self.name));
        let removing = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let containers = Containers::at(&host);
                let found = containers.labelled().await;
                containers.remove_of(found, |name| name.ends_with(&own)).await;
            });
        });
        let _ = removing.join();
    }
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit code; none when it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said beside that.
    pub stderr: String,
}

impl Ran {
    /// What was printed by a command that must have succeeded.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stderr, self.stdout);
        self.stdout
    }
}

fn settings(servers: &Servers, name: &str, model: &str) -> BTreeMap<String, String> {
    let pairs = [
        ("DATABASE_URL", with_database(&servers.database_url, name)),
        ("DATABASE_ADMIN_URL", with_database(&servers.database_admin_url, name)),
        ("NATS_URL", servers.nats_url.clone()),
        ("OXAGEN_NATS_PREFIX", format!("{name}_")),
        ("CLICKHOUSE_URL", servers.clickhouse_url.clone()),
        ("CLICKHOUSE_USER", servers.clickhouse_user.clone()),
        ("CLICKHOUSE_PASSWORD", servers.clickhouse_password.clone()),
        ("CLICKHOUSE_DATABASE", name.to_owned()),
        ("NEO4J_URL", servers.neo4j_url.clone()),
        ("NEO4J_USER", servers.neo4j_user.clone()),
        ("NEO4J_PASSWORD", servers.neo4j_password.clone()),
        ("DOCKER_HOST", servers.docker_host.clone()),
        ("OXAGEN_SANDBOX_IMAGE", servers.sandbox_image.clone()),
        ("OXAGEN_MODEL_URL", model.to_owned()),
        ("OXAGEN_MODEL_API_KEY", "scripted".to_owned()),
        ("OXAGEN_MODEL", "scripted".to_owned()),
        ("RUST_LOG", env::var("RUST_LOG").unwrap_or_else(|_| "info,oxagen=debug".to_owned())),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
