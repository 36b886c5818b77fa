use oxagen_model::{Message, ReasoningEcho};
use oxagen_scripted_model::Reply;
use serde_json::json;

use crate::desk::Desk;

#[tokio::test]
async fn f06_reasoning_is_kept_apart_whatever_its_name() {
    for field in ["reasoning_content", "reasoning", "reasoning_details"] {
        let reply = Reply {
            reasoning: "First I think about owls.".into(),
            reasoning_field: field.into(),
            chunk_size: 4,
            ..Reply::text("Owls.")
        };
        let answer = Desk::new(reply).await.ask().await.unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.reasoning.as_str()),
            ("Owls.", "First I think about owls."),
            "{field}"
        );
    }
}

#[tokio::test]
async fn f06_earlier_reasoning_is_echoed_or_dropped_by_setting() {
    let cases = [
        (ReasoningEcho::Drop, None),
        (ReasoningEcho::ReasoningContent, Some("reasoning_content")),
        (ReasoningEcho::Reasoning, Some("reasoning")),
    ];
    for (echo, field) in cases {
        let mut desk = Desk::new(Reply::text("ok")).await;
        desk.settings.reasoning_echo = echo;
        let earlier = Message::Assistant {
            text: Some("Owls.".into()),
            reasoning: Some("I thought.".into()),
            calls: Vec::new(),
        };
        let user = |text: &str| Message::User { text: text.into() };
        desk.ask_with(vec![user("a"), earlier, user("b")]).await.unwrap();
        let sent = desk.last_request().body["messages"][1].clone();
        let mut wanted = json!({"role": "assistant", "content": "Owls."});
        if let Some(field) = field {
            wanted[field] = json!("I thought.");
        }
        assert_eq!(sent, wanted);
    }
}
