//! Screens behind slow networks, and long conversations.

use std::time::Duration;

use futures::StreamExt;
use oxagen_scripted_model::Reply;
use oxagen_tests::{scenario, soon, word, world};
use reqwest::Method;
use tokio::time::Instant;

use crate::road;

/// A proxy that closes idle connections gives them a minute.
const SILENCE: Duration = Duration::from_secs(55);
/// Turns of the long conversation.
const TURNS: usize = 12;
/// Pieces of text in each.
const PIECES: usize = 2_000;

#[tokio::test]
async fn f16_a_silent_stream_shows_signs_of_life_and_is_not_to_be_buffered() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("quiet"));
    world.script(road::computes(&word));
    let (turn, events, _) = road::ask(&workspace, &word).await;
    drop(events);
    let path = format!("/v1/conversations/{}/stream", turn.conversation);
    let answer = workspace.http.request(Method::GET, &path).header("Accept-Encoding", "gzip, br").send();
    let answer = soon("the beginning of a stream", answer).await.unwrap();
    let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(header("cache-control").as_deref(), Some("no-cache, no-transform"));
    assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
    assert_eq!(header("content-encoding"), None);

    let (mut bytes, mut comments, mut last) = (answer.bytes_stream(), 0, Instant::now());
    while comments < 3 {
        let piece = soon("a sign of life", bytes.next()).await.unwrap().unwrap();
        assert!(last.elapsed() < SILENCE, "silent for {:?}", last.elapsed());
        last = Instant::now();
        let text = String::from_utf8_lossy(&piece).into_owned();
        comments += text.lines().filter(|line| line.starts_with(':')).count();
    }
}

#[tokio::test]
async fn f35_a_long_conversation_costs_per_turn_what_a_short_one_does() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("long"));
    let said = "x".repeat(PIECES);
    world.script(scenario(&word, vec![Reply { chunk_size: 1, ..Reply::text(&said) }]));
    let mut turn = workspace.say(&word).await;
    let conversation = turn.conversation.clone();
    workspace.settled(&turn, "completed").await;
    let first = workspace.facts(&conversation).await.len();
    for _ in 1..TURNS {
        turn = workspace.say_in(&conversation, &word).await;
        workspace.settled(&turn, "completed").await;
    }
    let facts = workspace.facts(&conversation).await;
    // The first turn also began the conversation.
    assert_eq!(
        facts.len(),
        first + (TURNS - 1) * (first - 1),
        "each turn has as many facts, its pieces are none"
    );
    let view = workspace.http.get(&format!("/v1/conversations/{conversation}")).await;
    assert_eq!(view.json["messages"].as_array().map(Vec::len), Some(2 * TURNS), "{}", view.status);
    assert!(view.text.len() < TURNS * (PIECES + 2_000), "each text is in it once: {}", view.text.len());
    let list = workspace.http.get("/v1/conversations").await;
    assert!(list.text.len() < PIECES, "the list has no messages in it: {}", list.text.len());
}
