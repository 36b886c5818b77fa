//! Conversations: listed, renamed, branched, archived; messages that arrive while a turn runs.
//!
//! Covers `agent.conversation.list`, `agent.conversation.archive` and `agent.turn.read`.

use oxagen_tests::{Turn, reply, scenario, until, word, world};
use reqwest::Method;
use serde_json::json;

use crate::road;

#[tokio::test]
async fn they_are_listed_newest_first_page_by_page() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("list"));
    world.script(scenario(&word, vec![reply("Yes.", vec![])]));
    let mut made = Vec::new();
    for _ in 0..5 {
        let turn = workspace.say(&word).await;
        workspace.settled(&turn, "completed").await;
        made.insert(0, turn.conversation);
    }
    let mut listed = Vec::new();
    let mut path = "/v1/conversations?limit=2".to_owned();
    loop {
        let page = workspace.http.get(&path).await.expect(200);
        let items = page["items"].as_array().unwrap();
        listed.extend(items.iter().map(|item| item["conversationId"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/v1/conversations?limit=2&cursor={cursor}");
    }
    assert_eq!(listed, made);
    workspace.http.get("/v1/conversations?cursor=nonsense").await.problem(422, "invalid_input");
    workspace.http.get("/v1/conversations?limit=0").await.problem(422, "invalid_input");
}

#[tokio::test]
async fn one_is_read_newest_messages_first_page_by_page() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("pages"));
    world.script(road::looks(&word));
    let mut turn = workspace.say(&word).await;
    workspace.settled(&turn, "completed").await;
    for _ in 1..4 {
        turn = workspace.say_in(&turn.conversation, &word).await;
        workspace.settled(&turn, "completed").await;
    }
    let whole = format!("/v1/conversations/{}", turn.conversation);
    let messages = workspace.http.get(&whole).await.expect(200)["messages"].as_array().unwrap().clone();
    assert_eq!(messages.len(), 8, "a page holds them all unless told otherwise");
    for limit in [1, 3, 8] {
        let (mut read, mut cursor, mut sizes) = (Vec::new(), String::new(), Vec::new());
        loop {
            let page = workspace.http.get(&format!("{whole}?limit={limit}{cursor}")).await.expect(200);
            let older = page["messages"].as_array().unwrap().clone();
            sizes.push(older.len());
            read = [older, read].concat();
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(read, messages, "{limit} at a time, calls as they stand included");
        assert_eq!(sizes.len(), 8_usize.div_ceil(limit), "{sizes:?}");
    }
    workspace.http.get(&format!("{whole}?limit=0")).await.problem(422, "invalid_input");
    workspace.http.get(&format!("{whole}?cursor=nonsense")).await.problem(422, "invalid_input");

    // A conversation that was begun a moment ago has the same pages, wherever they are read from.
    let new = workspace.say(&word).await;
    let path = format!("/v1/conversations/{}?limit=1", new.conversation);
    let last = until("its messages", async || {
        let page = workspace.http.get(&path).await.expect(200);
        (page["messages"] != json!([])).then_some(page)
    })
    .await;
    assert_eq!(last["messages"][0]["role"], "assistant");
    let cursor = last["nextCursor"].as_str().unwrap();
    let first = workspace.http.get(&format!("{path}&cursor={cursor}")).await.expect(200);
    assert_eq!(first["messages"][0]["messageId"], new.message);
    assert_eq!(first["nextCursor"], json!(null));
}

#[tokio::test]
async fn one_is_renamed_and_archived_and_takes_no_more_messages() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("archive"));
    world.script(scenario(&word, vec![reply("Yes.", vec![])]));
    let (turn, _) = workspace.talk(&word).await;
    let path = format!("/v1/conversations/{}", turn.conversation);
    let rename = workspace.http.request(Method::PATCH, &path).json(&json!({"title": "Another title"}));
    workspace.http.send(rename).await.expect(204);
    workspace.http.post(&format!("{path}/archive"), &json!({})).await.expect(204);
    until("the new title", async || {
        let view = workspace.http.get(&path).await.expect(200);
        (view["title"] == "Another title" && view["archived"] == true).then_some(())
    })
    .await;
    let more = json!({"conversationId": turn.conversation, "text": word});
    workspace.http.post("/v1/turns", &more).await.problem(409, "conversation_archived");
}

#[tokio::test]
async fn an_earlier_message_can_be_followed_by_another_branch() {
    let world = world();
    let (workspace, one, two) = (world.workspace().await, word("one"), word("two"));
    world.script(scenario(&one, vec![reply("First answer.", vec![])]));
    world.script(scenario(&two, vec![reply("Second answer.", vec![])]));
    let (first, _) = workspace.talk(&one).await;
    let second = workspace.say_in(&first.conversation, &one).await;
    workspace.settled(&second, "completed").await;
    let branch = json!({"conversationId": first.conversation, "parentMessageId": first.message, "text": two});
    let branched = workspace.start(&branch).await;
    let view = workspace.settled(&branched, "completed").await;
    let messages = view["messages"].as_array().unwrap();
    let of = |turn: &Turn, role: &str| {
        messages
            .iter()
            .find(|message| message["turnId"] == turn.id && message["role"] == role)
            .unwrap()
            .clone()
    };
    assert_eq!(of(&second, "user")["parentMessageId"], of(&first, "assistant")["messageId"]);
    assert_eq!(of(&branched, "user")["parentMessageId"], first.message);
    // The branch's model was told of its own past alone.
    let request = world.installation.model.requests_with(&two).pop().unwrap();
    let told = request.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .count();
    assert_eq!(told, 2, "{}", request.body);
}

#[tokio::test]
async fn a_busy_conversation_refuses_queues_or_is_interrupted() {
    let world = world();
    let (workspace, busy, next) = (world.workspace().await, word("busy"), word("next"));
    world.script(road::computes(&busy));
    world.script(scenario(&next, vec![reply("Next.", vec![])]));
    let (turn, _, asked) = road::ask(&workspace, &busy).await;
    let message =
        |on_busy: &str| json!({"conversationId": turn.conversation, "text": next, "onBusy": on_busy});
    workspace.http.post("/v1/turns", &message("reject")).await.problem(409, "conversation_busy");
    let queued = workspace.start(&message("enqueue")).await;
    let path = format!("/v1/turns/{}", queued.id);
    assert_eq!(workspace.http.get(&path).await.expect(200)["status"], "queued");
    workspace.approve(asked["approvalId"].as_str().unwrap()).await;
    workspace.settled(&turn, "completed").await;
    workspace.settled(&queued, "completed").await;

    let (running, _, _) = road::ask(&workspace, &busy).await;
    let message = json!({"conversationId": running.conversation, "text": next, "onBusy": "interrupt"});
    let interrupting = workspace.start(&message).await;
    workspace.settled(&running, "cancelled").await;
    workspace.settled(&interrupting, "completed").await;
}

#[tokio::test]
async fn a_turn_stops_at_its_budget() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("budget"));
    let look = || reply("Again.", vec![oxagen_tests::call("agent_tool_list", json!({}))]);
    world.script(scenario(&word, vec![look(), look(), look()]));
    let turn = workspace.start(&json!({"text": word, "budget": {"maxSteps": 2}})).await;
    let mut events = workspace.events(&turn.conversation).await;
    let end = events.turn_end().await;
    assert_eq!(
        (end.name.as_str(), &end.data["error"]["code"]),
        ("turn-failed", &json!("budget_steps")),
        "{}",
        end.data
    );
    let view = workspace.http.get(&format!("/v1/turns/{}", turn.id)).await.expect(200);
    assert_eq!(view["turnId"], turn.id);
}
