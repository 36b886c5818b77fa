//! F14 for many screens at once: each is cut and comes back at every place of a conversation that goes on meanwhile.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use futures::future::join_all;
use oxagen_scripted_model::{Reply, Scenario};
use oxagen_tests::{EventStream, SseEvent, Workspace, call, reply, scenario, until, word, world};
use reqwest::Method;
use serde_json::json;
use tokio::time::timeout;

use crate::road;

/// Screens that watch.
const VIEWERS: usize = 10;
/// Turns of the conversation.
const TURNS: usize = 5;
/// After so long without anything a screen comes again.
const SILENCE: Duration = Duration::from_secs(15);
/// Facts that it has at least.
const FACTS: usize = 60;

/// The first text stops in its middle until screens were cut there and have come back; the others are slow.
fn slowly(word: &str) -> Scenario {
    let slow = |text: &str, calls| Reply { delay_ms: 60, chunk_size: 8, ..reply(text, calls) };
    let held = |text: &str, calls| Reply { hold_after: Some(5), ..slow(text, calls) };
    let looks = (0..3).map(|_| call("agent_tool_list", json!({}))).collect();
    let first = "Let me look at what there is: first one thing, then another, and then the rest of them.";
    let second = "I have looked. 京都 🦉 ñ are in there, and many more words that take their time to come.";
    scenario(word, vec![held(first, looks), slow(second, vec![])])
}

#[tokio::test]
async fn f14_ten_screens_cut_at_every_place_have_every_fact_once() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("ten"));
    world.script(slowly(&word));
    let turn = workspace.say(&word).await;
    let conversation = turn.conversation.clone();
    let back = RefCell::new(BTreeSet::new());
    let screens = join_all((0..VIEWERS).map(|nth| watch(&workspace, &conversation, (nth, &back))));
    let writing = async {
        until("every other screen back in the text in which it was cut", async || {
            (back.borrow().len() == VIEWERS / 2).then_some(())
        })
        .await;
        world.installation.model.let_go(&word);
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
    assert!(
        resumed >= VIEWERS / 2,
        "only {resumed} texts were seen from their beginning by who was cut in them"
    );
    for (index, after) in all.iter().enumerate() {
        let mut rest = workspace.events_after(&conversation, &after.to_string()).await;
        rest.rest().await;
        assert_eq!(rest.ids(), all[index + 1..], "after {after}");
    }
}

/// Watches to the end and is cut after each fact; every other screen also once in the middle of each text. Gives the
/// facts in the order in which they came, and how many texts it saw from their beginning after it was cut in them. Those
/// who are `back` in such a text are noted.
async fn watch(
    workspace: &Workspace,
    conversation: &str,
    (nth, back): (usize, &RefCell<BTreeSet<usize>>),
) -> (Vec<u64>, usize) {
    let path = format!("/v1/conversations/{conversation}/stream?follow=true");
    let (mut ids, mut cut, mut resumed) = (Vec::new(), Vec::new(), 0);
    loop {
        let last = ids.last().map(u64::to_string);
        let mut events = workspace.stream(&path, last.as_deref()).await;
        let shown = loop {
            // Frames may get lost, the text so far among them: a screen that is shown nothing comes again.
            let Ok(event) = timeout(SILENCE, events.next()).await else { break None };
            let event = event.expect("a stream that is followed does not end");
            let is_text = event.name == "text-delta";
            let is_new = is_text && !cut.contains(&place(&event));
            if is_text && !is_new && event.data["offset"] == 0 {
                back.borrow_mut().insert(nth);
            }
            if event.id.is_some() || (is_new && nth % 2 == 1) {
                break Some(event);
            }
        };
        let texts = texts(&events);
        let from_its_beginning = |cut| texts.get(cut).is_some_and(|pieces| pieces[0].0 == 0);
        resumed += usize::from(cut.last().is_some_and(from_its_beginning));
        let Some(shown) = shown else { continue };
        match shown.id {
            Some(id) => ids.push(id),
            None => cut.push(place(&shown)),
        }
        if let (Some(pieces), "step-completed") = (texts.get(&place(&shown)), shown.name.as_str()) {
            let whole = shown.data["text"].as_str().unwrap();
            for (offset, piece) in pieces {
                assert!(whole[*offset..].starts_with(piece), "{offset}: {piece}");
            }
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

/// The pieces of each text that came over one connection, with their places: in order, and no byte twice.
fn texts(events: &EventStream) -> HashMap<String, Vec<(usize, String)>> {
    let mut texts = HashMap::<String, Vec<(usize, String)>>::new();
    for event in events.named("text-delta") {
        let (offset, piece) = (&event.data["offset"], event.data["text"].as_str().unwrap().to_owned());
        let offset = usize::try_from(offset.as_u64().unwrap()).unwrap();
        let pieces = texts.entry(place(event)).or_default();
        let end = pieces.last().map_or(0, |(offset, piece)| offset + piece.len());
        assert!(offset >= end, "{} again: {}", end, event.data);
        pieces.push((offset, piece));
    }
    texts
}
