use oxagen_model::{Arguments, ErrorCode};
use oxagen_scripted_model::{Call, Reply};
use serde_json::{Value, json};

use crate::desk::{Desk, piece, stream};

async fn calls(pieces: &[Value]) -> Result<Vec<(String, Value)>, ErrorCode> {
    let deltas: Vec<Value> = pieces.iter().cloned().map(piece).collect();
    let answer =
        Desk::new(Reply::raw(stream(&deltas, "tool_calls"))).await.ask().await.map_err(|error| error.code)?;
    let plain = |call: oxagen_model::Call| match call.arguments {
        Arguments::Object(object) => (call.name, Value::Object(object)),
        Arguments::Invalid { reason, .. } => (call.name, json!(reason)),
    };
    Ok(answer.calls.into_iter().map(plain).collect())
}

fn both() -> Result<Vec<(String, Value)>, ErrorCode> {
    Ok(vec![("f".into(), json!({"a": 1})), ("g".into(), json!({"b": 2}))])
}

#[tokio::test]
async fn f01_the_usual_way() {
    let call = |name: &str, arguments| Call { name: name.into(), arguments, id: None };
    let reply = Reply {
        text: "Both.".into(),
        calls: vec![call("f", json!({"a": 1})), call("g", json!({"b": 2}))],
        chunk_size: 2,
        ..Reply::default()
    };
    let answer = Desk::new(reply).await.ask().await.unwrap();
    assert_eq!(answer.text, "Both.");
    assert_eq!(answer.calls.len(), 2);
    assert_ne!(answer.calls[0].id, answer.calls[1].id);
    assert!(answer.usage.total_tokens > 0);
    assert_eq!(answer.model.as_deref(), Some("scripted"));
}

#[tokio::test]
async fn f01_no_index() {
    let pieces = [
        json!({"id": "x", "function": {"name": "f", "arguments": "{\"a\""}}),
        json!({"function": {"arguments": ":1}"}}),
        json!({"id": "y", "function": {"name": "g", "arguments": "{\"b\":2}"}}),
    ];
    assert_eq!(calls(&pieces).await, both());
}

#[tokio::test]
async fn f01_same_index_different_ids() {
    let pieces = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": "{\"a\":1}"}}),
        json!({"index": 0, "id": "y", "function": {"name": "g", "arguments": "{\"b\":2}"}}),
    ];
    assert_eq!(calls(&pieces).await, both());
}

#[tokio::test]
async fn f01_later_pieces_at_another_index() {
    let pieces = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 1, "function": {"arguments": "{\"a\":"}}),
        json!({"index": 1, "id": "", "function": {"name": "", "arguments": "1}"}}),
    ];
    assert_eq!(calls(&pieces).await, Ok(vec![("f".into(), json!({"a": 1}))]));
}

#[tokio::test]
async fn f01_interleaved() {
    let pieces = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 1, "id": "y", "function": {"name": "g", "arguments": ""}}),
        json!({"index": 1, "function": {"arguments": "{\"b\":"}}),
        json!({"index": 0, "function": {"arguments": "{\"a\":1}"}}),
        json!({"index": 1, "function": {"arguments": "2}"}}),
    ];
    assert_eq!(calls(&pieces).await, both());
}

#[tokio::test]
async fn f01_arguments_before_the_name() {
    let pieces = [
        json!({"index": 0, "function": {"arguments": "{\"a\":1}"}}),
        json!({"index": 0, "id": "x", "function": {"name": "f"}}),
    ];
    assert_eq!(calls(&pieces).await, Ok(vec![("f".into(), json!({"a": 1}))]));
}

#[tokio::test]
async fn f01_ambiguous_is_a_typed_error() {
    let pieces = [
        json!({"id": "x", "function": {"name": "f", "arguments": ""}}),
        json!({"id": "y", "function": {"name": "g", "arguments": ""}}),
        json!({"function": {"arguments": "{\"a\":1}"}}),
    ];
    assert_eq!(calls(&pieces).await, Err(ErrorCode::Malformed));
}
