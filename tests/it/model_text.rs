//! F05, F06: text, bytes and reasoning on their way from a provider to a screen, a store and the next request.

use oxagen_scripted_model::Reply;
use oxagen_tests::{code, reply, scenario, word, world};

const TEXT: &str = "京都 🦉 ñ — and so on";

#[tokio::test]
async fn f05_text_and_arguments_one_byte_at_a_time_are_kept_byte_for_byte() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("bytes"));
    let program = format!("print('{TEXT}')");
    let asks = Reply { bytes_per_write: 1, ..reply(TEXT, vec![code(&program)]) };
    let says = Reply {
        bytes_per_write: 1,
        ..Reply::text(format!("{TEXT}: {{{{lastToolResult.stdout.lastLine}}}}"))
    };
    world.script(scenario(&word, vec![asks, says]));
    let (turn, mut events, asked) = crate::road::ask(&workspace, &word).await;
    assert_eq!(asked["input"]["code"], program);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let streamed: String =
        events.named("text-delta").iter().map(|event| event.data["text"].as_str().unwrap()).collect();
    assert!(!streamed.contains('\u{fffd}'), "{streamed}");
    let view = workspace.settled(&turn, "completed").await;
    assert_eq!(view["messages"][1]["blocks"][0]["text"], TEXT);
    let (input, output) = (&view["usage"]["inputTokens"], &view["usage"]["outputTokens"]);
    assert!(input.as_u64() > Some(0) && output.as_u64() > Some(0), "usage is counted: {}", view["usage"]);
}

#[tokio::test]
async fn f06_reasoning_is_kept_apart_from_the_answer_and_not_sent_again() {
    let world = world();
    for field in ["reasoning_content", "reasoning", "reasoning_details"] {
        let (workspace, word) = (world.workspace().await, word("reason"));
        let thinks = Reply {
            reasoning: "A secret thought.".to_owned(),
            reasoning_field: field.to_owned(),
            hold_after: Some(3),
            chunk_size: 3,
            ..Reply::text("An open answer.")
        };
        world.script(scenario(&word, vec![thinks]));
        let turn = workspace.say(&word).await;
        let mut events = workspace.events(&turn.conversation).await;
        events.until("reasoning-delta").await;
        world.installation.model.let_go(&word);
        assert_eq!(events.turn_end().await.name, "turn-completed");
        let streamed: String = events
            .named("reasoning-delta")
            .iter()
            .map(|event| event.data["text"].as_str().unwrap())
            .collect();
        assert!(!streamed.is_empty() && "A secret thought.".starts_with(&streamed), "{field}: {streamed}");
        let view = workspace.settled(&turn, "completed").await;
        let blocks = view["messages"][1]["blocks"].as_array().unwrap();
        let kinds: Vec<_> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["reasoning", "text"], "{field}: {blocks:?}");
        assert_eq!(
            (&blocks[0]["text"], &blocks[1]["text"]),
            (&"A secret thought.".into(), &"An open answer.".into())
        );

        let again = format!("again-{word}");
        world.script(scenario(&again, vec![reply("Yes.", vec![])]));
        let next = workspace.say_in(&turn.conversation, &again).await;
        workspace.settled(&next, "completed").await;
        let request = world.installation.model.requests_with(&again).pop().unwrap();
        let sent = request.body.to_string();
        assert!(sent.contains("An open answer.") && !sent.contains("A secret thought."), "{field}: {sent}");
    }
}
