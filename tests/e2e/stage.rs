//! A stage for the browser tests: an installation of its own with every role, a workspace, and a door in front of its
//! gateway that can be shut.
//!
//! `oxagen-stage` prints one JSON line when all is ready and one for each line that it reads from its standard input; when
//! that ends, everything ends. Gateway and runner are processes of their own, so that they can be
//! killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use oxagen_domain::Role;
use oxagen_tests::{Containers, Installation, Process, Proxy, ROLES, Rows, Workspace, free_port, until};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

const GATEWAY: &[&str] = &["gateway"];
const RUNNER: &[&str] = &["runner"];

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // On this thread, for the processes end with the thread that started them.
    runtime.block_on(async {
        let mut stage = Stage::new().await;
        println!("{}", stage.addresses().await);
        let mut lines = BufReader::new(stdin()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            println!("{}", stage.does(line.trim()).await);
        }
    });
}

struct Stage {
    installation: Installation,
    port: u16,
    gateway: Process,
    runner: Process,
    _others: Process,
    door: Proxy,
    workspace: Workspace,
}

impl Stage {
    async fn new() -> Self {
        let installation = Installation::new().await;
        let is_other = |role: &&str| !GATEWAY.contains(role) && !RUNNER.contains(role);
        let others: Vec<_> = ROLES.iter().copied().filter(is_other).collect();
        let others = installation.start(&others).await;
        let runner = installation.start(RUNNER).await;
        let port = free_port();
        let mut gateway = installation.launch(port, GATEWAY, &[]);
        gateway.ready().await;
        let door = Proxy::to(&gateway.url).await;
        let workspace = installation.workspace_with_network(&gateway.url).await;
        Self { installation, port, gateway, runner, _others: others, door, workspace }
    }

    /// What a browser and a script need to know.
    async fn addresses(&self) -> Value {
        let viewer = self.workspace.as_role(Role::Viewer).await;
        json!({
            "url": format!("http://{}", self.door.address()), "direct": self.gateway.url,
            "model": self.installation.model.url(), "tenantId": self.workspace.tenant,
            "key": self.workspace.http.key, "viewerKey": viewer.http.key,
        })
    }

    async fn does(&mut self, command: &str) -> Value {
        match command.split_once(' ').unwrap_or((command, "")) {
            ("shut", _) => self.door.shut(),
            ("stall", _) => self.door.stall(),
            ("open", _) => self.door.open(),
            ("kill", _) => self.gateway.kill(),
            ("start", _) => {
                self.gateway = self.installation.launch(self.port, GATEWAY, &[]);
                self.gateway.ready().await;
            }
            ("runner", _) => {
                self.runner.kill();
                self.runner = self.installation.start(RUNNER).await;
            }
            ("workspace", _) => {
                self.workspace = self.installation.workspace_with_network(&self.gateway.url).await;
                return self.addresses().await;
            }
            ("go", conversation) => self.go(conversation).await,
            ("rows", conversation) => return self.rows(conversation).await,
            (other, _) => panic!("`{other}` is no command"),
        }
        json!({"done": command})
    }

    /// Tells the code that runs in a conversation to go on, and waits for its end.
    async fn go(&self, conversation: &str) {
        let rows = Rows::of(&self.installation).await;
        let containers = Containers::at(&self.installation.servers.docker_host);
        let sql = format!(
            "select id from execution.tool_calls where conversation_id = '{conversation}' and status = 'started'"
        );
        let mut told = false;
        until("the end of the code that was to go on", async || {
            let running = rows.postgres(&sql).await;
            // Again and again: the first container may be one that a dead runner has left.
            for call in &running {
                told |= containers.let_go(call["id"].as_str()?).await;
            }
            (told && running.is_empty()).then_some(())
        })
        .await;
    }

    /// What the three stores hold of a conversation's calls, once all of them have ended there.
    async fn rows(&self, conversation: &str) -> Value {
        const ENDED: &[&str] = &["completed", "failed", "cancelled", "denied", "in_doubt"];
        let has_ended = |call: &Value| call["status"].as_str().is_some_and(|status| ENDED.contains(&status));
        let rows = Rows::of(&self.installation).await;
        until("the ends of the conversation's calls in the three stores", async || {
            let calls = rows
                .postgres(&format!(
                    "select id, capability, status, attempt, policy_rule, plan_step, settled_as,
                       original_input is distinct from input as edited from execution.tool_calls
                     where conversation_id = '{conversation}' order by requested_at, id"
                ))
                .await;
            let invocations = rows
                .clickhouse(&format!(
                    "select call_id, status from tool_invocations final where conversation_id = '{conversation}'"
                ))
                .await;
            if !calls.iter().chain(&invocations).all(has_ended) {
                return None;
            }
            let messages = rows
                .postgres(&format!(
                    "select id, parent_message_id, role, turn_id from chat.messages
                     where conversation_id = '{conversation}' order by created_at, role = 'assistant', id"
                ))
                .await;
            let ids: Vec<_> = calls.iter().map(|call| call["id"].clone()).collect();
            let edges = rows
                .neo4j(
                    "match (:Execution {tenant: $tenant})-[i:INVOKED]->(:ToolVersion) return i.callId as id",
                    &self.workspace.tenant,
                )
                .await;
            let edges = edges.iter().filter(|edge| ids.contains(&edge["id"])).count();
            (calls.len() == invocations.len() && calls.len() == edges).then(|| {
                json!({"calls": calls, "invocations": invocations, "edges": edges, "messages": messages})
            })
        })
        .await
    }
}
