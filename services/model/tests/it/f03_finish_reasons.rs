use oxagen_model::{Arguments, Finish};
use oxagen_scripted_model::{Call, Reply};
use serde_json::json;

use crate::desk::{Desk, piece, stream};

async fn finish(reply: Reply) -> oxagen_model::Completion {
    Desk::new(reply).await.ask().await.unwrap()
}

#[tokio::test]
async fn f03_stop_with_whole_calls_runs_them() {
    let call = |name: &str| Call { name: name.into(), arguments: json!({"a": 1}), id: None };
    let reply = Reply { calls: vec![call("f"), call("g")], finish: Some("stop".into()), ..Reply::default() };
    let answer = finish(reply).await;
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(answer.calls.len(), 2);
    assert!(answer.calls.iter().all(|call| matches!(call.arguments, Arguments::Object(_))));
}

#[tokio::test]
async fn f03_tool_calls_without_any_has_none() {
    let answer = finish(Reply { finish: Some("tool_calls".into()), ..Reply::text("done") }).await;
    assert_eq!((answer.finish, answer.calls.len()), (Finish::ToolCalls, 0));
}

#[tokio::test]
async fn f03_empty_reasons_are_as_none() {
    // `stream` puts an empty reason on each chunk.
    let answer =
        finish(Reply::raw(stream(&[json!({"content": "a"}), json!({"content": "b"})], "stop"))).await;
    assert_eq!((answer.text.as_str(), answer.finish), ("ab", Finish::Stop));
    let call = piece(json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}));
    let answer = finish(Reply::raw(stream(&[call], ""))).await;
    assert_eq!((answer.calls.len(), answer.finish), (1, Finish::Missing));
}

#[tokio::test]
async fn f03_unknown_reasons_are_kept() {
    let answer = finish(Reply { finish: Some("pondering".into()), ..Reply::text("hm") }).await;
    assert_eq!(answer.finish, Finish::Other("pondering".into()));
}
