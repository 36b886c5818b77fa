//! More at once than the databases bear: everybody waits their turn, and who cannot is turned away before anything is
//! done. What a client is told is what the journal knows.

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use oxagen_tests::{Answer, Proxy, Workspace, until, world};
use reqwest::Method;
use serde_json::{Value, json};

/// Tenants that call at the same moment.
const TENANTS: usize = 4;
/// Calls of each.
const EACH: usize = 100;
/// Calls at the same moment where few have a place.
const MANY: usize = 40;
/// Places in that queue.
const WAITING: usize = 5;

async fn call(workspace: &Workspace, key: &str) -> Answer {
    let body = json!({"capability": "agent.tool.list", "input": {}});
    let request = workspace.http.request(Method::POST, "/v1/tool-calls").header("Idempotency-Key", key);
    workspace.http.send(request.header("Prefer", "wait=30").json(&body)).await
}

/// The calls that the journal has of a workspace.
async fn kept(workspace: &Workspace) -> BTreeSet<String> {
    let (mut calls, mut after) = (BTreeSet::new(), 0);
    loop {
        let path = format!("/v1/events?type=tool_call.requested&limit=1000&after={after}");
        let page = workspace.http.get(&path).await.expect(200);
        let items = page["items"].as_array().unwrap();
        let Some(last) = items.last() else { return calls };
        after = last["seq"].as_u64().unwrap();
        calls.extend(items.iter().map(|fact| fact["aggregateId"].as_str().unwrap().to_owned()));
    }
}

#[tokio::test]
async fn four_tenants_with_a_hundred_calls_each_wait_their_turn_and_none_is_refused() {
    let world = world();
    // How long one waits for their turn depends on the machine.
    let gateway = world.installation.start_with(&["gateway"], &[("OXAGEN_REQUEST_TIMEOUT", "600")]).await;
    let workspaces = join_all((0..TENANTS).map(|_| world.workspace())).await;
    let workspaces: Vec<_> = workspaces.iter().map(|workspace| workspace.at(&gateway.url)).collect();
    let calls = workspaces.iter().flat_map(|workspace| (0..EACH).map(move |nth| (workspace, nth)));
    let answers = join_all(calls.map(|(workspace, nth)| async move {
        let answer = call(workspace, &format!("call {nth}")).await;
        assert!(matches!(answer.status, 200 | 202), "{} {}", answer.status, answer.text);
        answer.json["callId"].as_str().unwrap().to_owned()
    }))
    .await;
    for (workspace, told) in workspaces.iter().zip(answers.chunks(EACH)) {
        let told: BTreeSet<_> = told.iter().cloned().collect();
        assert_eq!(told.len(), EACH, "each has a call of its own");
        until("every call in the history", async || (kept(workspace).await == told).then_some(())).await;
    }
}

#[tokio::test]
async fn who_finds_the_queue_full_is_turned_away_before_anything_is_done() {
    let world = world();
    let door = Proxy::to(&world.installation.settings["DATABASE_URL"]).await;
    let through = door.url();
    // One command at a time, and those that wait.
    let waiting = WAITING.to_string();
    let narrow = [
        ("DATABASE_URL", through.as_str()),
        ("OXAGEN_JOURNAL_CONNECTIONS", "2"),
        ("OXAGEN_QUEUE", waiting.as_str()),
        ("OXAGEN_REQUEST_TIMEOUT", "600"),
    ];
    let gateway = world.installation.start_with(&["gateway"], &narrow).await;
    let workspace = world.workspace().await.at(&gateway.url);
    workspace.http.get("/v1/me").await.expect(200);
    // Nobody's turn ends while all of them come.
    door.stall();
    let keys: Vec<_> = (0..MANY).map(|nth| format!("call {nth}")).collect();
    let mut answers: FuturesUnordered<_> = keys.iter().map(|key| call(&workspace, key)).collect();
    let (mut taken, mut refused, mut unknown) = (BTreeSet::new(), 0, 0);
    while let Some(answer) = answers.next().await {
        if matches!(answer.status, 200 | 202) {
            taken.insert(answer.json["callId"].as_str().unwrap().to_owned());
        } else {
            assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
            if answer.status == 503 {
                // The machine is so slow that the stall outlasted a commit.
                unknown += 1;
            } else {
                answer.problem(429, "too_many_requests");
                refused += 1;
            }
        }
        if answers.len() == WAITING + 1 {
            assert!(taken.is_empty(), "nobody can have been answered yet");
            door.open();
        }
    }
    assert!(refused > 0 && !taken.is_empty(), "{refused} refused, {} taken, {unknown} unknown", taken.len());
    let other = workspace.at(world.url());
    until("every call that was taken", async || (kept(&other).await.is_superset(&taken)).then_some(())).await;
    let more = kept(&other).await.difference(&taken).count();
    assert!(more <= unknown, "{more} of those that were refused");

    // Whoever sends all of them again with the same keys has each once, whatever they were told before.
    let mut all = BTreeSet::new();
    for some in keys.chunks(WAITING) {
        for answer in join_all(some.iter().map(|key| call(&workspace, key))).await {
            assert!(matches!(answer.status, 200 | 202), "{}", answer.text);
            all.insert(answer.json["callId"].as_str().unwrap().to_owned());
        }
    }
    assert!(all.len() == keys.len() && all.is_superset(&taken));
    until("every call", async || (kept(&other).await == all).then_some(())).await;
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_said_to_be_unknown_and_a_repeat_does_nothing_twice() {
    let world = world();
    let workspace = world.workspace().await;
    // Where the cut falls is not the test's to choose: before the commit nothing was done, at the commit nobody knows.
    for nth in 0.. {
        let proxy = Proxy::to(&world.installation.settings["DATABASE_URL"]).await;
        let through = proxy.url();
        let own = [("DATABASE_URL", through.as_str()), ("OXAGEN_JOURNAL_CONNECTIONS", "2")];
        let gateway = world.installation.start_with(&["gateway"], &own).await;
        let there = workspace.at(&gateway.url);
        // A connection that has done this a moment ago does it again without a question before.
        for warm in 0..4 {
            let warm = json!({"name": format!("before {nth}.{warm}"), "role": "viewer"});
            there.http.post("/v1/keys", &warm).await.expect(201);
        }
        let name = format!("twice {nth}");
        let body = json!({"name": name, "role": "viewer"});
        proxy.mute();
        let answer = there.http.post_once("/v1/keys", &name, &body).await;
        if answer.json["code"] == "unavailable" {
            workspace.http.post_once("/v1/keys", &name, &body).await.expect(201);
            continue;
        }
        assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
        let unknown = answer.problem(503, "outcome_unknown");
        assert!(unknown["detail"].as_str().unwrap().contains("same Idempotency-Key"), "{unknown}");

        // Its secret was lost with the answer, unless this one overtook it.
        let made = workspace.http.post_once("/v1/keys", &name, &body).await;
        assert!(matches!(made.status, 201 | 409), "{}", made.text);
        let named = until("the key in the list", async || {
            let keys = workspace.http.get("/v1/keys").await.expect(200);
            let named = |key: &&Value| key["name"] == *name;
            let named: Vec<_> = keys["items"].as_array().unwrap().iter().filter(named).cloned().collect();
            (!named.is_empty()).then_some(named)
        })
        .await;
        assert_eq!(named.len(), 1, "{named:?}");
        assert_eq!(named[0]["keyId"], made.json["keyId"]);
        return;
    }
}
