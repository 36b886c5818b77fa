//! One installation for all tests of a binary, with one process that has every role.

use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;

use oxagen_domain::policy::PolicyDocument;
use oxagen_scripted_model::Scenario;

use crate::installation::{Installation, ROLES};
use crate::process::Process;
use crate::servers::Servers;
use crate::sweep;
use crate::workspace::Workspace;

/// The shared installation.
pub struct World {
    /// Its stores and its model.
    pub installation: Installation,
    process: Process,
}

static WORLD: OnceLock<Option<World>> = OnceLock::new();

/// The shared installation; the first who asks starts it.
pub fn world() -> &'static World {
    let world = WORLD.get_or_init(|| {
        let (ready, made) = mpsc::channel();
        // A thread and a runtime that outlive the test which came first: the model runs on them, and the process
        // lives as long as the thread that started it.
        thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let _ = ready.send(start().await);
                std::future::pending::<()>().await;
            });
        });
        made.recv().ok()
    });
    world.as_ref().expect("the shared installation did not start; the first failure above says why")
}

async fn start() -> World {
    sweep::old_installations(&Servers::from_env()).await;
    let installation = Installation::beside_others().await;
    let process = installation.start(ROLES).await;
    World { installation, process }
}

impl World {
    /// The gateway's address.
    pub fn url(&self) -> &str {
        &self.process.url
    }

    /// A workspace of its own for a test.
    pub async fn workspace(&self) -> Workspace {
        self.no_panic();
        self.installation.workspace(self.url()).await
    }

    /// A panic in a handler or a task is a defect, also where the test that caused it did not notice.
    fn no_panic(&self) {
        let log = self.process.log();
        let line = log.lines().find(|line| line.contains("panicked at"));
        assert!(line.is_none(), "the shared process panicked: {}", line.unwrap_or_default());
    }

    /// A workspace of its own with this policy.
    pub async fn workspace_with(&self, policy: PolicyDocument) -> Workspace {
        self.installation.workspace_with(self.url(), policy).await
    }

    /// Lets the model answer to one more word.
    pub fn script(&self, scenario: Scenario) {
        self.installation.model.add_scenarios(vec![scenario]);
    }
}
