//! F44: the same `Idempotency-Key` again.

use futures::future::join_all;
use oxagen_tests::{Turn, reply, scenario, word, world};
use serde_json::json;

#[tokio::test]
async fn f44_twenty_at_once_are_one_turn_also_at_another_gateway() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("once"));
    world.script(scenario(&word, vec![reply("Once.", vec![])]));
    let body = json!({"text": word});
    let key = format!("key-{word}");
    let starts = (0..20).map(|_| workspace.http.post_once("/v1/turns", &key, &body));
    let receipts: Vec<_> = join_all(starts).await.into_iter().map(|answer| answer.expect(202)).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "{receipts:?}");
    let turn = Turn::of(&receipts[0]);
    workspace.events(&turn.conversation).await.turn_end().await;

    // A gateway that was started later has nothing in memory.
    let other = world.installation.start(&["gateway"]).await;
    let again = workspace.at(&other.url).http.post_once("/v1/turns", &key, &body).await.expect(202);
    assert_eq!(again, receipts[0]);
    let kinds = workspace.kinds(&turn.conversation).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "turn.requested").count(), 1, "{kinds:?}");
    assert_eq!(world.installation.model.requests_with(&word).len(), 1);
}

#[tokio::test]
async fn f44_with_another_body_it_is_refused_and_another_tenants_is_another_key() {
    let world = world();
    let (ours, theirs, word) = (world.workspace().await, world.workspace().await, word("reused"));
    world.script(scenario(&word, vec![reply("Yes.", vec![])]));
    let first = ours.http.post_once("/v1/turns", "the-key", &json!({"text": word})).await.expect(202);
    let other = json!({"text": format!("{word} and more")});
    ours.http.post_once("/v1/turns", "the-key", &other).await.problem(409, "idempotency_key_reused");
    let separate = theirs.http.post_once("/v1/turns", "the-key", &other).await.expect(202);
    assert_ne!(first["turnId"], separate["turnId"]);
    assert_eq!(ours.http.post_once("/v1/turns", "the-key", &json!({"text": word})).await.expect(202), first);
}

#[tokio::test]
async fn f44_a_direct_call_is_made_once() {
    let world = world();
    let workspace = world.workspace().await;
    let body =
        json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "print(1)"}});
    let calls = (0..20).map(|_| workspace.http.post_once("/v1/tool-calls", "a-call", &body));
    let receipts: Vec<_> = join_all(calls).await.into_iter().map(|answer| answer.expect(202)).collect();
    assert!(receipts.iter().all(|receipt| receipt["callId"] == receipts[0]["callId"]), "{receipts:?}");
    let other = json!({"capability": "agent.tool.list", "input": {}});
    workspace.http.post_once("/v1/tool-calls", "a-call", &other).await.problem(409, "idempotency_key_reused");
}

#[tokio::test]
async fn f44_a_key_is_made_once_and_an_agents_version_published_once() {
    let world = world();
    let workspace = world.workspace().await;
    let http = &workspace.http;
    let key = json!({"name": "robot", "role": "service"});
    let made = http.post_once("/v1/keys", "robot", &key).await.expect(201);
    // Its text is kept nowhere, so a repeat can only say which one it was.
    let again = http.post_once("/v1/keys", "robot", &key).await.problem(409, "conflict");
    assert_eq!(again["keyId"], made["keyId"]);
    let other = json!({"name": "robot", "role": "owner"});
    http.post_once("/v1/keys", "robot", &other).await.problem(409, "idempotency_key_reused");
    let another = http.post_once("/v1/keys", "robot 2", &key).await.expect(201);
    assert_ne!(another["keyId"], made["keyId"]);

    let agent = json!({"name": "clerk", "instructions": "Be brief."});
    let at_once = (0..5).map(|_| http.post_once("/v1/agents", "clerk", &agent));
    let receipts: Vec<_> = join_all(at_once).await.into_iter().map(|answer| answer.expect(201)).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "{receipts:?}");
    let next = json!({"agentId": receipts[0]["agentId"], "name": "clerk", "instructions": "Be briefer."});
    let second = http.post_once("/v1/agents", "clerk, briefer", &next).await.expect(201);
    assert_eq!((&second["agentId"], &second["number"]), (&receipts[0]["agentId"], &json!(2)));
    assert_eq!(http.post_once("/v1/agents", "clerk, briefer", &next).await.expect(201), second);
    assert_eq!(http.post_once("/v1/agents", "clerk", &agent).await.expect(201), receipts[0]);
    let changed = json!({"name": "clerk", "instructions": "Be long."});
    http.post_once("/v1/agents", "clerk", &changed).await.problem(409, "idempotency_key_reused");
}
