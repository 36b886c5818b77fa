use std::{collections::BTreeMap, time::Duration};

use oxagen_model::{ErrorCode, MaxTokensField, Message, ModelClient, ModelSettings, ToolSpec};
use oxagen_scripted_model::{Outcome, Reply, Slice};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, KEY, request};

fn refusing(status: u16, body: Value) -> Reply {
    Reply { status: Some(status), body: Some(body), ..Reply::default() }
}

#[tokio::test]
async fn a_status_is_kept_whatever_the_body() {
    let cases = [
        (400, json!("<html>nope</html>"), ErrorCode::BadRequest, false),
        (404, json!({"error": {"message": "no such model", "code": 404}}), ErrorCode::BadRequest, false),
        (401, json!({"error": {"message": format!("bad key {KEY}")}}), ErrorCode::Unauthorized, false),
        (429, json!({"detail": "slow down"}), ErrorCode::RateLimited { retry_after: None }, true),
        (500, json!(""), ErrorCode::Provider, true),
        (529, json!({"error": "overloaded"}), ErrorCode::Provider, true),
    ];
    for (status, body, code, retryable) in cases {
        let desk = Desk::new(refusing(status, body)).await;
        let error = desk.ask().await.unwrap_err();
        assert_eq!((error.code, error.status, error.retryable), (code, Some(status), retryable), "{error}");
        assert_eq!(desk.provider.requests().len(), 1, "nothing is repeated out of sight");
    }
}

#[tokio::test]
async fn a_rate_limit_says_how_long_and_a_redirect_where() {
    let headers = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let limited = Reply { headers: headers("retry-after", "3"), ..refusing(429, json!("")) };
    let error = Desk::new(limited).await.ask().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::RateLimited { retry_after: Some(Duration::from_secs(3)) });
    let moved =
        Reply { headers: headers("location", "https://else.example/v1?key=s"), ..refusing(308, json!("")) };
    let error = Desk::new(moved).await.ask().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BadRequest);
    assert!(error.message.contains("https://else.example/v1;"), "{error}");
}

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    // Bound and not listening: nobody else gets the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let client = ModelClient::new(ModelSettings::new(format!("http://{address}/v1"), None)).unwrap();
    let error = client.complete(&request(vec![]), |_| {}, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unreachable);
    assert!(error.message.contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn silence_is_a_timeout_before_and_within_an_answer() {
    for stall_after in [0, 2] {
        let mut desk =
            Desk::new(Reply { stall_ms: 60_000, stall_after, chunk_size: 3, ..Reply::text("one two") }).await;
        desk.settings.read_timeout = Duration::from_millis(200);
        assert_eq!(desk.ask().await.unwrap_err().code, ErrorCode::Timeout);
        desk.settings.read_timeout = Duration::from_secs(60);
        desk.settings.total_timeout = Duration::from_millis(200);
        assert_eq!(desk.ask().await.unwrap_err().code, ErrorCode::Timeout);
    }
}

#[tokio::test]
async fn cancelling_hangs_up_at_once_and_keeps_what_came() {
    let desk =
        Desk::new(Reply { stall_ms: 60_000, stall_after: 2, chunk_size: 3, ..Reply::text("one two") }).await;
    let cancel = CancellationToken::new();
    let asked = request(vec![Message::User { text: "hi".into() }]);
    let client = desk.client();
    let running = tokio::spawn(async move { client.complete(&asked, |_| cancel.cancel(), &cancel).await });
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(
        (error.code, error.retryable, error.partial.text.as_str()),
        (ErrorCode::Cancelled, false, "one")
    );
    while desk.last_request().outcome != Outcome::HungUp {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn too_large_an_answer_is_stopped() {
    let reply = Reply { chunk_size: 64 * 1024, ..Reply::text("x".repeat(oxagen_model::OUTPUT_LIMIT + 1)) };
    let error = Desk::new(reply).await.ask().await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::TooLarge, false));
}

#[tokio::test]
async fn a_provider_that_does_not_stream_is_understood() {
    let whole = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    let answer = Desk::new(refusing(200, whole)).await.ask().await.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.total_tokens), ("hi", 2));
    let error = Desk::new(refusing(200, json!({"error": {"message": "no"}}))).await.ask().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Provider);
}

#[tokio::test]
async fn tools_and_limits_are_sent_and_the_key_is_never_shown() {
    let mut desk = Desk::new(Reply::text("ok")).await;
    desk.settings.max_tokens_field = MaxTokensField::MaxCompletionTokens;
    let mut asked =
        request(vec![Message::System { text: "be kind".into() }, Message::User { text: "hi".into() }]);
    let parameters = json!({"type": "object", "properties": {}});
    asked.tools =
        vec![ToolSpec { name: "f".into(), description: "does f".into(), parameters: parameters.clone() }];
    asked.max_tokens = Some(99);
    let client = desk.client();
    client.complete(&asked, |_| {}, &CancellationToken::new()).await.unwrap();
    let recorded = desk.last_request();
    assert_eq!(recorded.path, "/v1/chat/completions");
    assert_eq!(recorded.headers["authorization"], "masked");
    assert_eq!(recorded.body["max_completion_tokens"], 99);
    assert_eq!(recorded.body["stream"], true);
    let function = json!({"name": "f", "description": "does f", "parameters": parameters});
    assert_eq!(recorded.body["tools"], json!([{"type": "function", "function": function}]));
    assert!(!format!("{client:?} {:?}", desk.settings).contains(KEY));
    let in_address = ModelSettings::new("https://user:hidden@host/v1?key=hidden", None);
    assert!(!format!("{:?} {in_address:?}", ModelClient::new(in_address.clone())).contains("hidden"));
}

#[test]
fn an_address_that_is_none_is_refused() {
    for address in ["", "localhost:1", "ftp://x/v1", "http://"] {
        let error = ModelClient::new(ModelSettings::new(address, None)).unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest, "{address}");
    }
}

#[tokio::test]
async fn an_address_may_end_in_a_slash_or_carry_a_query() {
    let mut desk = Desk::new(Reply::text("ok")).await;
    for address in [format!("{}/", desk.provider.url()), format!("{}?api-version=1", desk.provider.url())] {
        desk.settings.base_url = address;
        desk.ask().await.unwrap();
        assert_eq!(desk.last_request().path, "/v1/chat/completions");
    }
}

#[tokio::test]
async fn a_connection_held_open_after_the_end_does_not_hold_the_answer() {
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n";
    let slice = |text: &str, delay_ms| Slice { text: Some(text.to_owned()), delay_ms, ..Slice::default() };
    let reply = Reply { raw: Some(vec![slice(whole, 0), slice(": late", 60_000)]), ..Reply::default() };
    assert_eq!(Desk::new(reply).await.ask().await.unwrap().text, "ok");
}
