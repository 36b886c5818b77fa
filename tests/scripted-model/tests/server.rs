//! The provider over HTTP, as a client sees it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use oxagen_scripted_model::{Outcome, ScriptedModel};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

struct Desk {
    model: ScriptedModel,
    http: Client,
}

impl Desk {
    async fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            model: ScriptedModel::start().await.unwrap(),
            http: Client::builder().no_proxy().build().unwrap(),
        }
    }

    async fn ask(&self, body: &Value) -> (StatusCode, String) {
        let url = format!("{}/chat/completions", self.model.url());
        let response = self.http.post(url).bearer_auth("secret-key").json(body).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }

    fn desk(&self, path: &str) -> String {
        format!("http://{}{path}", self.model.address())
    }
}

fn user(text: &str) -> Value {
    json!({"model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": text}]})
}

#[tokio::test]
async fn the_builtin_assistant_streams_and_calls() {
    let desk = Desk::new().await;
    let (status, body) = desk.ask(&user("Please compute a Fibonacci number")).await;
    assert_eq!(status, StatusCode::OK);
    let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.last(), Some(&"[DONE]"));
    let chunks: Vec<Value> =
        data[..data.len() - 1].iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["id"] == chunks[0]["id"])
    );
    let deltas = || chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
    let arguments: String =
        deltas().filter_map(|delta| delta["tool_calls"][0]["function"]["arguments"].as_str()).collect();
    let arguments: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(arguments["language"], "python");
    assert!(deltas().any(|delta| delta["tool_calls"][0]["function"]["name"] == "agent_code_execute"));
    let last = &chunks[chunks.len() - 1];
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["total_tokens"].as_u64() > Some(0));
    assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn the_builtin_assistant_tells_results_and_refusals() {
    let desk = Desk::new().await;
    let after = |result: &str| {
        json!({"model": "m", "messages": [
            {"role": "user", "content": "compute"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "agent_code_execute", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": result}]})
    };
    let said = async |result: &str| {
        let (_, body) = desk.ask(&after(result)).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["object"], "chat.completion");
        body["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
    };
    let stdout =
        json!({"exitCode": 0, "stdout": "F(5) = 5\nThe 30th Fibonacci number is 832040\n"}).to_string();
    assert!(said(&stdout).await.contains("**The 30th Fibonacci number is 832040**"));
    assert!(said("A person refused: wait for Friday").await.contains("“A person refused: wait for Friday”"));
}

#[tokio::test]
async fn scripts_and_requests_are_had_over_http() {
    let desk = Desk::new().await;
    let put = async |body: &str| {
        let sent = desk.http.put(desk.desk("/__script")).body(body.to_owned()).send().await.unwrap();
        (sent.status(), sent.text().await.unwrap())
    };
    let (status, reason) = put(r#"[{"replies": [{"txt": "x"}]}]"#).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(reason.contains("unknown field `txt`"), "{reason}");
    let script = r#"[{"name": "s", "match": {"userContains": "hi"},
        "replies": [{"text": "hello", "first": [{"status": 429, "body": "slow", "headers": {"retry-after": "1"}}]}]}]"#;
    assert_eq!(put(script).await.0, StatusCode::NO_CONTENT);
    assert_eq!(desk.ask(&user("hi")).await, (StatusCode::TOO_MANY_REQUESTS, "slow".to_owned()));
    assert!(desk.ask(&user("hi")).await.1.contains("hello"));
    assert_eq!(desk.ask(&user("unknown")).await.0, StatusCode::BAD_REQUEST);

    let requests: Value = desk.http.get(desk.desk("/__requests")).send().await.unwrap().json().await.unwrap();
    let requests = requests.as_array().unwrap();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0]["headers"]["authorization"], "masked");
    assert!(!json!(requests).to_string().contains("secret-key"));
    assert_eq!((&requests[1]["scenario"], &requests[1]["step"]), (&json!("s"), &json!(0)));
    assert_eq!(requests[2]["outcome"], "refused");
    desk.http.delete(desk.desk("/__requests")).send().await.unwrap();
    assert!(desk.model.requests().is_empty());
}

#[tokio::test]
async fn malformed_conversations_are_refused() {
    let desk = Desk::new().await;
    let mut body = user("hi");
    body["messages"] = json!([{"role": "tool", "tool_call_id": "x", "content": ""}]);
    let (status, reason) = desk.ask(&body).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(reason.contains("answers no preceding tool call"), "{reason}");
    assert_eq!(desk.model.requests()[0].outcome, Outcome::Refused);
}
