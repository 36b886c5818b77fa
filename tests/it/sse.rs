//! F14: a viewer comes, goes and comes back. What it has seen together is the conversation's facts, once each.

use oxagen_scripted_model::Reply;
use oxagen_tests::{Containers, names, reply, scenario, until, waiting, word, world};

use crate::road;

#[tokio::test]
async fn f14_a_viewer_that_is_cut_resumes_with_exactly_what_it_missed() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("cut"));
    world.script(road::computes(&word));
    let turn = workspace.say(&word).await;

    // Cut before any event, after the seventh fact, and in the pause.
    drop(workspace.events(&turn.conversation).await);
    let mut first = workspace.events(&turn.conversation).await;
    while first.ids().len() < 7 {
        first.next().await.expect("seven facts");
    }
    let mut seen = first.ids();
    drop(first);
    let last = seen.last().unwrap().to_string();
    let mut second = workspace.events_after(&turn.conversation, &last).await;
    let asked = first_approval(&workspace, &turn.conversation).await;
    second.until("turn-paused").await;
    seen.extend(second.ids());
    drop(second);
    workspace.approve(&asked).await;
    let last = seen.last().unwrap().to_string();
    let mut third = workspace.events_after(&turn.conversation, &last).await;
    third.turn_end().await;
    third.rest().await;
    seen.extend(third.ids());
    assert_eq!(seen, seqs(&workspace, &turn.conversation).await);
}

async fn first_approval(workspace: &oxagen_tests::Workspace, conversation: &str) -> String {
    let asked = until("the question", async || {
        workspace.facts(conversation).await.into_iter().find(|fact| fact["type"] == "approval.requested")
    })
    .await;
    asked["aggregateId"].as_str().unwrap().to_owned()
}

async fn seqs(workspace: &oxagen_tests::Workspace, conversation: &str) -> Vec<u64> {
    workspace.facts(conversation).await.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn f14_a_finished_turn_replays_from_any_place_and_closes() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("finished"));
    world.script(road::looks(&word));
    let (turn, mut events) = workspace.talk(&word).await;
    events.rest().await;
    let all = seqs(&workspace, &turn.conversation).await;

    // Without an id, from the start, after each fact, after the last one, and after a place between two facts.
    let path = format!("/v1/conversations/{}/stream", turn.conversation);
    let mut whole = workspace.stream(&path, None).await;
    whole.rest().await;
    assert_eq!(whole.ids(), all);
    assert!(names(&whole.seen).contains(&"caught-up"), "{:?}", names(&whole.seen));
    for (index, after) in all.iter().enumerate() {
        let mut rest = workspace.events_after(&turn.conversation, &after.to_string()).await;
        rest.rest().await;
        assert_eq!(rest.ids(), all[index + 1..], "after {after}");
    }
    let mut query = workspace.stream(&format!("{path}?after={}", all[2]), None).await;
    query.rest().await;
    assert_eq!(query.ids(), all[3..]);
}

#[tokio::test]
async fn f14_a_place_that_is_none_is_a_gap_that_names_the_snapshot() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("gap"));
    world.script(scenario(&word, vec![reply("Hello.", vec![])]));
    let (turn, _) = workspace.talk(&word).await;
    for place in ["-1", "999999999", "abc", "1.5", "99999999999999999999999"] {
        let mut events = workspace.events_after(&turn.conversation, place).await;
        let seen = events.rest().await;
        assert_eq!(names(&seen), ["gap"], "after {place}");
        let snapshot = seen[0].data["snapshot"].as_str().unwrap();
        let view = workspace.http.get(snapshot).await.expect(200);
        assert_eq!(view["conversationId"], turn.conversation);
    }
}

#[tokio::test]
async fn f14_another_conversations_place_shows_only_the_own_facts_after_it() {
    let world = world();
    let (workspace, one, two) = (world.workspace().await, word("one"), word("two"));
    world.script(scenario(&one, vec![reply("One.", vec![])]));
    world.script(scenario(&two, vec![reply("Two.", vec![])]));
    let (first, _) = workspace.talk(&one).await;
    let (second, _) = workspace.talk(&two).await;
    let foreign = *seqs(&workspace, &first.conversation).await.last().unwrap();
    let mut events = workspace.events_after(&second.conversation, &foreign.to_string()).await;
    events.rest().await;
    let own = seqs(&workspace, &second.conversation).await;
    let after: Vec<_> = own.into_iter().filter(|seq| *seq > foreign).collect();
    assert_eq!(events.ids(), after);

    let stranger = world.workspace().await;
    let path = format!("/v1/conversations/{}/stream?after=0", first.conversation);
    stranger.http.get(&path).await.problem(404, "not_found");
    stranger.http.get(&format!("/v1/workspaces/{}/stream", workspace.id)).await.problem(404, "not_found");
}

#[tokio::test]
async fn the_workspaces_stream_shows_every_conversations_facts() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("tray"));
    world.script(road::computes(&word));
    let mut tray = workspace.stream(&format!("/v1/workspaces/{}/stream?after=0", workspace.id), None).await;
    let (turn, _, asked) = road::ask(&workspace, &word).await;
    let card = tray.until("approval-required").await;
    assert_eq!(
        (&card.data["approvalId"], &card.data["conversationId"]),
        (&asked["approvalId"], &turn.conversation.clone().into())
    );
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    tray.until("turn-completed").await;
    let sorted = tray.ids().is_sorted_by(|a, b| a < b);
    assert!(sorted, "{:?}", tray.ids());
}

#[tokio::test]
async fn f15_a_lost_viewer_never_cancels() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("lost"));
    let replies = vec![reply("I will run it.", vec![waiting()]), reply("It ran.", vec![])];
    world.script(scenario(&word, replies));
    let (turn, events, asked) = road::ask(&workspace, &word).await;
    drop(events);
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    let mut running = workspace.events(&turn.conversation).await;
    running.until("tool-call-output").await;
    drop(running);
    let containers = Containers::at(&world.installation.servers.docker_host);
    let call = asked["callId"].as_str().unwrap();
    until("the call's program to let go", async || containers.let_go(call).await.then_some(())).await;
    workspace.settled(&turn, "completed").await;
    let kinds = workspace.kinds(&turn.conversation).await;
    assert!(kinds.contains(&"tool_call.completed".to_owned()), "{kinds:?}");
}

#[tokio::test]
async fn text_that_streamed_is_the_text_that_is_kept() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("streamed"));
    let text = "Streamed in many pieces: 京都 🦉 ñ, one after the other, to the end.";
    let held = Reply { hold_after: Some(3), ..Reply::text(text) };
    world.script(scenario(&word, vec![held]));
    let turn = workspace.say(&word).await;
    let mut events = workspace.events(&turn.conversation).await;
    // It is shown before there is more of it.
    events.until("text-delta").await;
    world.installation.model.let_go(&word);
    assert_eq!(events.turn_end().await.name, "turn-completed");
    let pieces = events.named("text-delta");
    assert!(
        pieces
            .iter()
            .all(|event| event.id.is_none() && event.data["turnId"] == turn.id && event.data["step"] == 1)
    );
    let joined: String = pieces.iter().map(|event| event.data["text"].as_str().unwrap()).collect();
    assert!(text.starts_with(&joined), "{joined}");
    assert_eq!(events.named("step-completed")[0].data["text"], text);
}
