use oxagen_model::{ErrorCode, ModelError};
use oxagen_scripted_model::{Cut, CutHow, Reply};
use serde_json::{Value, json};

use crate::desk::Desk;

/// Three pieces of text after the opening chunk, then this.
async fn after_three_pieces(data: Option<Value>, how: CutHow) -> ModelError {
    let cut = Cut { after: 4, data, how };
    let reply = Reply { chunk_size: 3, cut: Some(cut), delay_ms: 1, ..Reply::text("one two three four") };
    let error = Desk::new(reply).await.ask().await.unwrap_err();
    assert_eq!(error.partial.text, "one two t");
    assert!(error.retryable, "{error:?}");
    error
}

#[tokio::test]
async fn f04_an_error_object() {
    let error = json!({"error": {"message": "engine on fire", "code": 502}});
    let error = after_three_pieces(Some(error), CutHow::Close).await;
    assert_eq!(error.code, ErrorCode::Provider);
    assert!(error.message.contains("engine on fire"), "{error}");
}

#[tokio::test]
async fn f04_a_bare_string() {
    let error = after_three_pieces(Some(json!("overloaded")), CutHow::Close).await;
    assert_eq!(error.code, ErrorCode::Provider);
    assert!(error.message.contains("overloaded"), "{error}");
    let wrapped = after_three_pieces(Some(json!({"error": "overloaded"})), CutHow::Close).await;
    assert_eq!(wrapped.code, ErrorCode::Provider);
}

#[tokio::test]
async fn f04_a_clean_close() {
    assert_eq!(after_three_pieces(None, CutHow::Close).await.code, ErrorCode::StreamCut);
}

#[tokio::test]
async fn f04_a_reset() {
    assert_eq!(after_three_pieces(None, CutHow::Reset).await.code, ErrorCode::StreamCut);
}

#[tokio::test]
async fn f04_the_error_as_first_event() {
    for body in [
        "data: {\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}\n\n",
        "data: upstream went away\n\n",
        "event: error\ndata: {\"message\":\"no\"}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n",
    ] {
        let error = Desk::new(Reply::raw(body)).await.ask().await.unwrap_err();
        assert_eq!((error.code, error.partial.text.as_str()), (ErrorCode::Provider, ""), "{body}");
    }
    let limited = "data: {\"error\":{\"message\":\"slow\",\"code\":429}}\n\n";
    let error = Desk::new(Reply::raw(limited)).await.ask().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::RateLimited { retry_after: None });
}

#[tokio::test]
async fn f04_an_empty_or_half_event_is_no_answer() {
    for body in ["", "data: {\"choices\":[{\"delta\":{\"cont", ": only a comment\n\n"] {
        assert_eq!(
            Desk::new(Reply::raw(body)).await.ask().await.unwrap_err().code,
            ErrorCode::StreamCut,
            "{body}"
        );
    }
}
