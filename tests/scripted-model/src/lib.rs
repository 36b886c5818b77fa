//! A model provider that says what a script tells it, over real HTTP and in the real wire format.
//!
//! It serves `/v1/chat/completions`, keeps every request it got, and can be as badly behaved as providers
//! are: errors, cuts, stalls, single bytes. What it answers depends on the request alone (which scenario
//! matches, how many answers the turn already has), so that parallel conversations do not disturb each
//! other and a restart changes nothing. `README.md` describes the script.

mod choose;
mod conform;
mod conversation;
mod render;
mod script;
mod server;
mod stream;
mod template;

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context;
use tokio::{net::TcpListener, task::JoinHandle};

pub use script::{Call, Cut, CutHow, Match, OneOrMany, Reply, Scenario, Script, Slice};
use server::Shared;
pub use server::{Outcome, Recorded};

/// A scripted provider that runs inside this process until it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl ScriptedModel {
    /// Starts with the default script on a free port of this machine.
    pub async fn start() -> anyhow::Result<Self> {
        Self::listen(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts with the default script at this address.
    pub async fn listen(address: SocketAddr) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(Script::builtin()?));
        let router = server::router(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the scripted model stopped: {error}");
            }
        });
        Ok(Self { address, shared, task })
    }

    /// The address to configure as the model URL, such as `http://127.0.0.1:1234/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the script.
    pub fn set_script(&self, script: Script) {
        self.shared.set_script(script);
    }

    /// Puts scenarios before those there are, for tests that share one provider.
    pub fn add_scenarios(&self, scenarios: Vec<Scenario>) {
        self.shared.add_scenarios(scenarios);
    }

    /// Lets this scenario's answers go on that are held (`hold_after`), and those that come later not be held at all.
    pub fn let_go(&self, scenario: &str) {
        self.shared.let_go(scenario);
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests()
    }

    /// The requests in which some message contains this text.
    pub fn requests_with(&self, text: &str) -> Vec<Recorded> {
        let mut requests = self.requests();
        requests.retain(|request| request.body["messages"].to_string().contains(text));
        requests
    }

    /// Runs until the server ends, which it does only when its socket fails.
    pub async fn wait(mut self) {
        let _ = (&mut self.task).await;
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}
