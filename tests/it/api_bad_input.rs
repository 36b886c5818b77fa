//! Bad input: problem+json with a stable code, the field, and what to do; nothing half done.

use oxagen_tests::{Http, reply, scenario, until, word, world};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

#[tokio::test]
async fn every_bad_body_is_refused_by_name_and_leaves_nothing_behind() {
    let world = world();
    let workspace = world.workspace().await;
    let http = &workspace.http;
    // All that happened before a key was made, once that is told: what comes later has later numbers.
    let before_a_key = async |name: &str| {
        let made = http.post("/v1/keys", &json!({"name": name, "role": "viewer"})).await.expect(201);
        until("the key in the history", async || {
            let events = http.get("/v1/events?limit=1000").await.expect(200);
            events["items"].as_array().unwrap().iter().position(|fact| fact["aggregateId"] == made["keyId"])
        })
        .await
    };
    let before = before_a_key("before").await;

    let broken = http
        .request(Method::POST, "/v1/turns")
        .header("Content-Type", "application/json")
        .body("{\"text\": ");
    http.send(broken).await.problem(400, "invalid_json");
    let plain = http.request(Method::POST, "/v1/turns").header("Content-Type", "text/plain").body("{}");
    http.send(plain).await.problem(415, "unsupported_media_type");
    let big = json!({"text": "x".repeat(11 * 1024 * 1024)});
    http.post("/v1/turns", &big).await.problem(413, "too_large");

    let nobody = Uuid::now_v7();
    let invalid: Vec<(&str, Value, &str)> = vec![
        ("/v1/turns", json!({}), ""),
        ("/v1/turns", json!({"text": ""}), "/text"),
        ("/v1/turns", json!({"text": 7}), "/text"),
        ("/v1/turns", json!({"text": "hi", "txt": "hi"}), "/txt"),
        ("/v1/turns", json!({"text": "hi", "conversationId": "seven"}), "/conversationId"),
        ("/v1/turns", json!({"text": "hi", "onBusy": "wait"}), "/onBusy"),
        ("/v1/turns", json!({"text": "hi", "budget": {"maxSteps": 0}}), "/budget/maxSteps"),
        ("/v1/turns", json!({"text": "hi", "budget": {"maxSteps": 501}}), "/budget/maxSteps"),
        ("/v1/turns", json!({"text": "hi", "budget": {"maxStep": 5}}), "/budget/maxStep"),
        ("/v1/turns", json!({"text": "hi", "parentMessageId": nobody}), "/parentMessageId"),
        ("/v1/turns", json!({"text": "x".repeat(300 * 1024)}), "/text"),
        ("/v1/keys", json!({"name": "", "role": "member"}), "/name"),
        ("/v1/keys", json!({"name": "x", "role": "king"}), "/role"),
    ];
    for (path, body, field) in &invalid {
        let problem = http.post(path, body).await.problem(422, "invalid_input");
        if !field.is_empty() {
            assert_eq!(problem["field"], *field, "{body:.200} → {problem}");
        }
    }
    assert_eq!(before_a_key("after").await, before + 1, "nothing was half done");
}

#[tokio::test]
async fn a_tools_input_is_refused_with_a_pointer_and_what_was_expected() {
    let world = world();
    let workspace = world.workspace().await;
    let run = async |input: Value| {
        let body = json!({"capability": "agent.code.execute", "input": input});
        workspace.http.post("/v1/tool-calls", &body).await.problem(422, "invalid_input")
    };
    for (input, pointer) in [
        (json!({"language": "cobol", "code": "1"}), "/language"),
        (json!({"language": "python", "code": 1}), "/code"),
        (json!({"language": "python", "code": ""}), "/code"),
        (json!({"language": "python", "code": "1", "timeoutMs": 5}), "/timeoutMs"),
        (json!({"language": "python", "code": "1", "memoryMb": 9999}), "/memoryMb"),
        (
            json!({"language": "python", "code": "1", "files": [{"path": "../x", "content": ""}]}),
            "/files/0/path",
        ),
        (json!({"language": "python", "code": "x".repeat(257 * 1024)}), "/code"),
        (json!({"language": "python", "code": "1", "network": "sometimes"}), "/network"),
    ] {
        let problem = run(input).await;
        let flaws = problem["flaws"].as_array().unwrap();
        let flaw = flaws.iter().find(|flaw| flaw["pointer"].as_str().unwrap().ends_with(pointer));
        assert!(
            flaw.is_some_and(|flaw| !flaw["expected"].as_str().unwrap().is_empty()),
            "{pointer}: {problem}"
        );
    }
    let missing = run(json!({"language": "python"})).await;
    assert!(missing.to_string().contains("code"), "{missing}");
    let unknown = json!({"capability": "agent.weather.read", "input": {}});
    let unknown = workspace.http.post("/v1/tool-calls", &unknown).await.problem(422, "unknown_capability");
    assert!(unknown["detail"].as_str().unwrap().contains("agent.weather.read"), "{unknown}");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let world = world();
    let workspace = world.workspace().await;
    let nobody = Uuid::now_v7();
    for path in [
        format!("/v1/turns/{nobody}"),
        format!("/v1/conversations/{nobody}"),
        format!("/v1/conversations/{nobody}/stream"),
        format!("/v1/conversations/{nobody}/events"),
        format!("/v1/tool-calls/{nobody}"),
        format!("/v1/objects/{}", "0".repeat(64)),
        "/v1/objects/short".to_owned(),
        "/v1/turns/not-a-uuid".to_owned(),
    ] {
        workspace.http.get(&path).await.problem(404, "not_found");
    }
    for (path, body) in [
        (format!("/v1/turns/{nobody}/cancel"), json!({})),
        (format!("/v1/approvals/{nobody}/resolve"), json!({"decision": "approve"})),
        ("/v1/turns".to_owned(), json!({"text": "hi", "conversationId": nobody})),
        ("/v1/turns".to_owned(), json!({"text": "hi", "agentId": nobody})),
    ] {
        workspace.http.post(&path, &body).await.problem(404, "not_found");
    }
    workspace.http.get("/v1/nonsense").await.problem(404, "unknown_route");
    let put = workspace.http.request(Method::PUT, "/v1/turns").json(&json!({}));
    workspace.http.send(put).await.problem(405, "method_not_allowed");
}

#[tokio::test]
async fn a_parameter_that_a_route_does_not_have_is_refused_with_those_that_it_has() {
    let world = world();
    let workspace = world.workspace().await;
    for (path, name, known) in [
        ("/v1/conversations?limits=5", "limits", "`limit`, `cursor`"),
        ("/v1/approvals?limit=5&state=open", "state", "`status`"),
        ("/v1/events?since=2026-01-01T00:00:00Z", "since", "`after`"),
        ("/v1/me?verbose=true", "verbose", "no parameters"),
    ] {
        let problem = workspace.http.get(path).await.problem(422, "invalid_input");
        assert_eq!(problem["field"], name, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(known), "{problem}");
    }
    let message = json!({"text": "hello"});
    let problem = workspace.http.post("/v1/turns?wait=5", &message).await.problem(422, "invalid_input");
    assert_eq!(problem["field"], "wait", "{problem}");
    let conversations = workspace.http.get("/v1/conversations?limit=5").await.expect(200);
    assert_eq!(conversations["items"], json!([]), "nothing was begun");
}

#[tokio::test]
async fn a_parent_of_another_conversation_is_refused() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("parent"));
    world.script(scenario(&word, vec![reply("Yes.", vec![])]));
    let (first, _) = workspace.talk(&word).await;
    let (second, _) = workspace.talk(&word).await;
    let body = json!({"conversationId": second.conversation, "parentMessageId": first.message, "text": word});
    let answer = workspace.http.post("/v1/turns", &body).await;
    assert!((400..500).contains(&answer.status), "{}", answer.text);
    assert!(answer.text.contains(&first.message), "the message is named: {}", answer.text);
}

#[tokio::test]
async fn strangers_hosts_and_origins_are_turned_away() {
    let world = world();
    let workspace = world.workspace().await;
    let foreign = workspace.http.request(Method::GET, "/v1/me").header("Host", "evil.example");
    workspace.http.send(foreign).await.problem(403, "host_not_allowed");
    let foreign = workspace
        .http
        .request(Method::POST, "/v1/turns")
        .header("Origin", "https://evil.example")
        .json(&json!({"text": "hi"}));
    workspace.http.send(foreign).await.problem(403, "origin_not_allowed");
}

#[tokio::test]
async fn every_code_of_a_refusal_has_its_page() {
    let world = world();
    let open = Http::open(world.url());
    let document = open.get("/v1/openapi.json").await.expect(200);
    let codes =
        document.pointer("/components/schemas/Problem/properties/code/enum").unwrap().as_array().unwrap();
    assert!(codes.len() > 10);
    for code in codes {
        let page = open.get(&format!("/docs/errors/{}", code.as_str().unwrap())).await;
        assert_eq!(page.status, 200, "{code}");
    }
    for path in ["/healthz", "/readyz", "/metrics", "/docs"] {
        assert_eq!(open.get(path).await.status, 200, "{path}");
    }
}
