//! Calls outside a turn: the same gate and ledger, an execution of their own.
//!
//! Covers `agent.tool.list` and `agent.code.execute` over the API.

use oxagen_domain::Role;
use oxagen_tests::{Rows, until, world};
use reqwest::Method;
use serde_json::json;

use crate::road;

#[tokio::test]
async fn a_harmless_call_ends_within_the_wait_and_has_its_rows() {
    let world = world();
    let workspace = world.workspace().await;
    let body = json!({"capability": "agent.tool.list", "input": {}});
    let request =
        workspace.http.request(Method::POST, "/v1/tool-calls").header("Prefer", "wait=60").json(&body);
    let answer = workspace.http.send(request).await;
    assert_eq!(answer.headers.get("preference-applied").unwrap(), "wait=60");
    let call = answer.expect(200);
    assert_eq!((&call["status"], &call["origin"]), (&json!("completed"), &json!("api")), "{call}");
    let tools = call["output"]["tools"].as_array().unwrap();
    assert!(
        tools
            .iter()
            .any(|tool| tool["capability"] == "agent.code.execute" && tool["requiresApproval"] == true)
    );
    let listed = workspace.http.get("/v1/tools").await.expect(200);
    assert_eq!(
        listed["tools"].as_array().or(listed["items"].as_array()).unwrap().len(),
        tools.len(),
        "{listed}"
    );

    let rows = Rows::of(&world.installation).await;
    let id = call["callId"].as_str().unwrap();
    let row = road::one_of_each(&rows, &workspace.tenant, id, "completed", 1).await;
    let sql = format!(
        "select kind, status, call_id from execution.executions where id = '{}'",
        row["execution_id"].as_str().unwrap()
    );
    let execution = road::one_row("the direct execution", async || {
        rows.postgres(&sql).await.into_iter().filter(|row| row["status"] == "completed").collect()
    })
    .await;
    assert_eq!((&execution["kind"], &execution["call_id"]), (&json!("direct"), &json!(id)));
}

#[tokio::test]
async fn a_dangerous_call_is_held_and_runs_once_it_is_approved() {
    let world = world();
    let workspace = world.workspace().await;
    let input = json!({"language": "shell", "code": "echo direct"});
    let body = json!({"capability": "agent.code.execute", "input": input});
    let held = workspace.http.post("/v1/tool-calls", &body).await.expect(202);
    assert_eq!(held["status"], "held", "{held}");
    let (call, approval) = (held["callId"].as_str().unwrap(), held["approvalId"].as_str().unwrap());
    // A read by id right after a 202 finds it.
    let path = format!("/v1/tool-calls/{call}");
    assert_eq!(workspace.http.get(&path).await.expect(200)["callId"], call);
    workspace.approve(approval).await;
    let done = until("the end of the call", async || {
        let call = workspace.http.get(&path).await.expect(200);
        (call["status"] == "completed").then_some(call)
    })
    .await;
    assert_eq!(done["output"]["stdout"], "direct\n");
    let rows = Rows::of(&world.installation).await;
    road::one_of_each(&rows, &workspace.tenant, call, "completed", 1).await;
}

#[tokio::test]
async fn a_call_is_judged_by_role_and_policy_and_its_input_by_the_schema() {
    let world = world();
    let workspace = world.workspace().await;
    let run = |input| json!({"capability": "agent.code.execute", "input": input});
    let fine = json!({"language": "python", "code": "1"});
    let viewer = workspace.as_role(Role::Viewer).await;
    let refused = viewer.http.post("/v1/tool-calls", &run(fine.clone())).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let over = json!({"language": "python", "code": "1", "timeoutMs": 60000});
    let over = workspace.http.post("/v1/tool-calls", &run(over)).await.problem(403, "denied_by_policy");
    assert!(over["detail"].as_str().unwrap().contains("30000"), "the limit is in the refusal: {over}");
    let wrong = json!({"language": "cobol", "code": "1"});
    let flawed = workspace.http.post("/v1/tool-calls", &run(wrong)).await.problem(422, "invalid_input");
    assert!(
        flawed["flaws"]
            .as_array()
            .unwrap()
            .iter()
            .any(|flaw| flaw["pointer"].as_str().unwrap().ends_with("/language")),
        "{flawed}"
    );

    let closed = world.workspace_with(Default::default()).await;
    closed.http.post("/v1/tool-calls", &run(fine)).await.problem(403, "denied_by_policy");
}

#[tokio::test]
async fn a_held_call_can_be_cancelled() {
    let world = world();
    let workspace = world.workspace().await;
    let body =
        json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "print(1)"}});
    let held = workspace.http.post("/v1/tool-calls", &body).await.expect(202);
    let path = format!("/v1/tool-calls/{}", held["callId"].as_str().unwrap());
    workspace.http.post(&format!("{path}/cancel"), &json!({"reason": "changed my mind"})).await.expect(202);
    until("the call being cancelled", async || {
        (workspace.http.get(&path).await.expect(200)["status"] == "cancelled").then_some(())
    })
    .await;
    let approval = held["approvalId"].as_str().unwrap();
    workspace.resolve(approval, &json!({"decision": "approve"})).await.problem(409, "approval_closed");
}
