//! An installation with a process for each role, each of which may die.

use std::collections::BTreeMap;

use tokio::sync::watch;
use tokio::time::Instant;

use super::check::Checker;
use super::person::Person;
use super::stack::Stack;
use super::tale::Tale;
use super::transcript::Transcript;
use crate::http::Http;
use crate::installation::{Installation, ROLES, free_port};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::script::word;
use crate::wait::until;

/// The process of each role, and what an undisturbed conversation looks like here.
pub struct Crew {
    /// Stores and model.
    pub installation: Installation,
    /// The servers below it.
    pub stack: Stack,
    /// Somebody at a screen.
    pub person: Person,
    /// The doors between its processes and their servers.
    pub(super) doors: BTreeMap<&'static str, Proxy>,
    members: BTreeMap<&'static str, Process>,
    ports: BTreeMap<&'static str, u16>,
    words: BTreeMap<Tale, String>,
    undisturbed: BTreeMap<Tale, Transcript>,
    pub(super) checker: Checker,
}

impl Crew {
    /// Starts everything, and lets each tale happen once without disturbance.
    pub async fn new() -> Self {
        let mut installation = Installation::new().await;
        let doors = behind_doors(&mut installation).await;
        let ports: BTreeMap<_, _> = ROLES.iter().map(|role| (*role, free_port())).collect();
        let url = format!("http://127.0.0.1:{}", ports["gateway"]);
        let workspace = installation.workspace_with_network(&url).await;
        let words: BTreeMap<_, _> = Tale::ALL.iter().map(|tale| (*tale, word(tale.name()))).collect();
        installation.model.add_scenarios(words.iter().map(|(tale, word)| tale.script(word)).collect());
        let checker = Checker::of(&installation).await;
        let mut crew = Self {
            stack: Stack::of(&installation.servers),
            person: Person { workspace, shown: watch::Sender::new(Instant::now()) },
            installation,
            doors,
            members: BTreeMap::new(),
            ports,
            words,
            undisturbed: BTreeMap::new(),
            checker,
        };
        crew.heal().await;
        for tale in Tale::ALL {
            let walked = crew.person.walk(*tale, &crew.word(*tale)).await;
            crew.undisturbed.insert(*tale, Transcript::of(&walked.events));
            crew.checker.check(&crew, *tale, &walked, tale.statuses(false)).await;
        }
        crew
    }

    /// What to say for this tale.
    pub fn word(&self, tale: Tale) -> String {
        self.words[&tale].clone()
    }

    pub(super) fn undisturbed(&self, tale: Tale) -> &Transcript {
        &self.undisturbed[&tale]
    }

    /// Starts whoever is not there.
    pub async fn heal(&mut self) {
        for role in ROLES {
            if self.members.get_mut(role).is_none_or(|process| !process.is_running()) {
                self.members.insert(role, self.installation.launch(self.ports[role], &[role], &[]));
            }
        }
        for process in self.members.values_mut() {
            process.ready().await;
        }
    }

    /// Puts a process that will end at this place in the place of the role's.
    pub async fn arm(&mut self, role: &'static str, place: &str) {
        self.kill(role);
        let own = [("FAILPOINTS", place)];
        let mut process = self.installation.launch(self.ports[role], &[role], &own);
        let http = Http::open(&process.url);
        let what = format!("{role} being ready, or dead already");
        until(&what, async || {
            let ready = http.try_get("/readyz").await.is_some_and(|answer| answer.status == 200);
            (ready || !process.is_running()).then_some(())
        })
        .await;
        self.members.insert(role, process);
    }

    /// kill -9.
    pub fn kill(&mut self, role: &'static str) {
        if let Some(mut process) = self.members.remove(role) {
            process.kill();
        }
    }

    /// Waits until the role's process has ended by itself.
    pub async fn died(&mut self, role: &'static str) {
        self.died_while(role, |_| {}).await;
    }

    /// The same, and does this meanwhile, again and again.
    pub(super) async fn died_while(&mut self, role: &'static str, mut meanwhile: impl FnMut(&Self)) {
        let what = format!(
            "the end of {role} at its place; is `oxagen` built with `--features oxagen-node/failpoints`?"
        );
        until(&what, async || {
            meanwhile(self);
            (!self.members.get_mut(role).unwrap().is_running()).then_some(())
        })
        .await;
    }

    /// Starts the role's process again and waits until it is ready.
    pub async fn revive(&mut self, role: &'static str) {
        let mut process = self.installation.launch(self.ports[role], &[role], &[]);
        process.ready().await;
        self.members.insert(role, process);
    }

    /// One more process of this role.
    pub async fn another(&self, role: &'static str) -> Process {
        self.installation.start(&[role]).await
    }

    /// Puts this process in the place of the role's, which has ended.
    pub fn promote(&mut self, role: &'static str, process: Process) {
        self.members.insert(role, process);
    }
}

/// Lets the installation's processes reach their servers through doors alone.
async fn behind_doors(installation: &mut Installation) -> BTreeMap<&'static str, Proxy> {
    let servers = [
        ("nats", "NATS_URL"),
        ("postgres", "DATABASE_URL"),
        ("clickhouse", "CLICKHOUSE_URL"),
        ("neo4j", "NEO4J_URL"),
    ];
    let mut doors = BTreeMap::new();
    for (server, setting) in servers {
        let door = Proxy::to(&installation.settings[setting]).await;
        installation.settings.insert(setting.to_owned(), door.url());
        doors.insert(server, door);
    }
    doors
}
