use oxagen_model::{Arguments, AssistantCall, Finish, Message};
use oxagen_scripted_model::{Call, Outcome, Reply};
use serde_json::{Map, json};

use crate::desk::Desk;

fn calling(arguments: &str) -> Reply {
    let call = Call { name: "f".into(), arguments: json!(arguments), id: Some("c1".into()) };
    Reply { calls: vec![call], ..Reply::default() }
}

#[tokio::test]
async fn f02_blank_arguments_are_an_empty_object() {
    for blank in ["", "   ", "\n\t"] {
        let answer = Desk::new(calling(blank)).await.ask().await.unwrap();
        assert_eq!(answer.calls[0].arguments, Arguments::Object(Map::new()), "{blank:?}");
    }
}

#[tokio::test]
async fn f02_unusable_arguments_do_not_run_and_go_back_as_json() {
    for raw in [r#"{"path": "/tm"#, "[1,2]", "null", "\"x\""] {
        let desk = Desk::new(calling(raw)).await;
        let call = desk.ask().await.unwrap().calls.remove(0);
        assert!(
            matches!(&call.arguments, Arguments::Invalid { raw: kept, reason } if kept == raw && !reason.is_empty())
        );
        // The next request carries the call and its error result; the provider refuses what is malformed.
        let arguments = call.arguments.to_json();
        desk.ask_with(vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: None,
                reasoning: None,
                calls: vec![AssistantCall { id: call.id.clone(), name: call.name, arguments }],
            },
            Message::Tool { call_id: call.id, content: "the arguments are not usable".into() },
        ])
        .await
        .unwrap();
        assert_eq!(desk.last_request().outcome, Outcome::Written);
    }
}

#[tokio::test]
async fn f02_no_call_of_an_answer_cut_by_length_runs() {
    let reply = Reply { finish: Some("length".into()), ..calling(r#"{"whole": true}"#) };
    let answer = Desk::new(reply).await.ask().await.unwrap();
    assert_eq!(answer.finish, Finish::Length);
    assert!(matches!(answer.calls[0].arguments, Arguments::Invalid { .. }));
}
