//! A runner in the middle of a sandbox call, with every other role in a process beside it.

use oxagen_tests::{
    Containers, EventStream, Installation, Process, Proxy, Turn, Workspace, call, reply, scenario, until,
    waits, word,
};
use serde_json::{Value, json};

use crate::road;

/// Every role but the runner.
pub(crate) const OTHERS: &[&str] =
    &["gateway", "relay", "reactor", "projector-postgres", "projector-clickhouse", "projector-neo4j"];

/// The call has begun to print, and goes on when it is let go.
pub(crate) struct Scene {
    pub(crate) installation: Installation,
    pub(crate) others: Process,
    /// The runner that has the call.
    pub(crate) runner: Process,
    /// Between that runner and the journal.
    pub(crate) door: Proxy,
    pub(crate) workspace: Workspace,
    pub(crate) events: EventStream,
    pub(crate) turn: Turn,
    /// What was asked and approved.
    pub(crate) asked: Value,
}

impl Scene {
    /// With network the call may not run twice.
    pub(crate) async fn in_the_effect(network: &str) -> Self {
        let installation = Installation::new().await;
        let others = installation.start(OTHERS).await;
        let door = Proxy::to(&installation.settings["DATABASE_URL"]).await;
        let runner = installation.start_with(&["runner"], &[("DATABASE_URL", &door.url())]).await;
        let workspace = installation.workspace_with_network(&others.url).await;
        let word = word("effect");
        let arguments =
            json!({"language": "python", "code": waits(), "network": network, "timeoutMs": 300_000});
        let replies = vec![
            reply("I will run it.", vec![call("agent_code_execute", arguments)]),
            reply("So be it.", vec![]),
        ];
        installation.model.add_scenarios(vec![scenario(&word, replies)]);
        let (turn, mut events, asked) = road::ask(&workspace, &word).await;
        workspace.approve(asked["approvalId"].as_str().unwrap()).await;
        events.until("tool-call-output").await;
        Self { installation, others, runner, door, workspace, events, turn, asked }
    }

    pub(crate) fn call(&self) -> &str {
        self.asked["callId"].as_str().unwrap()
    }

    /// Reads on to where the second attempt prints, and lets it go.
    pub(crate) async fn second_attempt(&mut self) {
        while self.events.until("step-reset").await.data["attempt"] != 2 {}
        self.events.until("tool-call-output").await;
        self.let_go().await;
    }

    /// Lets the program of the call go on that runs now.
    pub(crate) async fn let_go(&self) {
        let containers = Containers::at(&self.installation.servers.docker_host);
        until("the call's program to let go", async || containers.let_go(self.call()).await.then_some(()))
            .await;
    }

    /// Reads on to the turn's end, which is a good one.
    pub(crate) async fn completed(&mut self) {
        let end = self.events.turn_end().await;
        assert_eq!(end.name, "turn-completed", "{}", end.data);
        self.events.rest().await;
    }

    /// Nothing is left of the call, nor of this runner if one is named.
    pub(crate) async fn no_container(&self, runner: Option<&str>) {
        let containers = Containers::at(&self.installation.servers.docker_host);
        until("the containers of the call and of the dead runner being gone", async || {
            let runners = if let Some(runner) = runner { containers.of_runner(runner).await } else { vec![] };
            (runners.is_empty() && containers.of_call(self.call()).await.is_none()).then_some(())
        })
        .await;
    }
}
