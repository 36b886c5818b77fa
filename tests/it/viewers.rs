//! F14 for many screens at once: each is cut and comes back at every place of a conversation that goes on meanwhile.

use std::collections::HashMap;

use futures::future::join_all;
use oxagen_scripted_model::{Reply, Scenario};
use oxagen_tests::{EventStream, SseEvent, Workspace, call, reply, scenario, word, world};
use reqwest::Method;
use serde_json::json;

use crate::road;

/// Screens that watch.
const VIEWERS: usize = 10;
/// Turns of the conversation.
const TURNS: usize = 5;
/// Facts that it has at least.
const FACTS: usize = 60;

/// Slow enough that a screen is cut, and comes back, in the middle of a text.
fn slowly(word: &str) -> Scenario {
    let slow = |text: &str, calls| Reply { delay_ms: 60, chunk_size: 8, ..reply(text, calls) };
    let looks = (0..3).map(|_| call("agent_tool_list", json!({}))).collect();
    let first = "Let me look at what there is: first one thing, then another, and then the rest of them.";
    let second = "I have looked. 京都 🦉 ñ are in there, and many more words that take their time to come.";
    scenario(word, vec![slow(first, looks), slow(second, vec![])])
}

#[tokio::test]
async fn f14_ten_screens_cut_at_every_place_have_every_fact_once() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("ten"));
    world.script(slowly(&word));
    let turn = workspace.say(&word).await;
    let conversation = turn.conversation.clone();
    let screens = join_all((0..VIEWERS).map(|nth| watch(&workspace, &conversation, nth)));
    let writing = async {
        workspace.settled(&turn, "completed").await;
        for _ in 1..TURNS {
            let turn = workspace.say_in(&conversation, &word).await;
            workspace.settled(&turn, "completed").await;
        }
        // The last fact of all, so that a screen knows that it has seen the end.
        let path = format!("/v1/conversations/{conversation}");
        let rename = workspace.http.request(Method::PATCH, &path).json(&json!({"title": "the end"}));
        workspace.http.send(rename).await.expect(204);
    };
    let (seen, ()) = tokio::join!(screens, writing);

    let facts = workspace.facts(&conversation).await;
    road::sound(&facts);
    let all: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    assert!(all.len() >= FACTS, "{} facts", all.len());
    for (nth, (ids, _)) in seen.iter().enumerate() {
        assert_eq!(ids, &all, "screen {nth}");
    }
    let resumed: usize = seen.iter().map(|(_, resumed)| resumed).sum();
    assert!(resumed > 0, "no screen came back in the middle of a text");
    for (index, after) in all.iter().enumerate() {
        let mut rest = workspace.events_after(&conversation, &after.to_string()).await;
        rest.rest().await;
        assert_eq!(rest.ids(), all[index + 1..], "after {after}");
    }
}

/// Watches to the end and is cut after each fact; every other screen also once in the middle of each text. Gives the
/// facts in the order in which they came, and how many texts it saw from their beginning after it was cut in them.
async fn watch(workspace: &Workspace, conversation: &str, nth: usize) -> (Vec<u64>, usize) {
    let path = format!("/v1/conversations/{conversation}/stream?follow=true");
    let (mut ids, mut cut, mut resumed) = (Vec::new(), Vec::new(), 0);
    loop {
        let last = ids.last().map(u64::to_string);
        let mut events = workspace.stream(&path, last.as_deref()).await;
        let shown = loop {
            let event = events.next().await.expect("a stream that is followed does not end");
            let is_new = event.name == "text-delta" && !cut.contains(&place(&event));
            if event.id.is_some() || (is_new && nth % 2 == 1) {
                break event;
            }
        };
        let texts = texts(&events);
        resumed += usize::from(cut.last().is_some_and(|cut| texts.contains_key(cut)));
        match shown.id {
            Some(id) => ids.push(id),
            None => cut.push(place(&shown)),
        }
        if let (Some(text), "step-completed") = (texts.get(&place(&shown)), shown.name.as_str()) {
            assert!(shown.data["text"].as_str().is_some_and(|whole| whole.starts_with(text)), "{text}");
        }
        if shown.data["type"] == "conversation.renamed" {
            return (ids, resumed);
        }
    }
}

/// Which text a piece belongs to.
fn place(event: &SseEvent) -> String {
    json!([event.data["turnId"], event.data["step"], event.data["attempt"]]).to_string()
}

/// The texts that came over one connection. Each begins at its beginning and goes on without a gap.
fn texts(events: &EventStream) -> HashMap<String, String> {
    let mut texts = HashMap::<String, String>::new();
    for event in events.named("text-delta") {
        let text = texts.entry(place(event)).or_default();
        assert_eq!(event.data["offset"], text.len(), "{}", event.data);
        text.push_str(event.data["text"].as_str().unwrap());
    }
    texts
}
