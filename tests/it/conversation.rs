//! One conversation goes every hop: message, model, held call, approval, sandbox, answer, and all three stores.
//!
//! Covers `agent.turn.start`, `agent.turn.read`, `agent.conversation.read`, `agent.code.execute` and
//! `agent.approval.resolve`.

use oxagen_tests::{Rows, names, word, world};
use serde_json::{Value, json};

use crate::road;

#[tokio::test]
async fn a_conversation_goes_every_hop_and_every_store_knows_it_once() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("road"));
    world.script(road::computes(&word));
    let walked = road::walk(&workspace, &format!("{word}: what is 6 times 7?")).await;
    let (turn, call) = (&walked.turn, walked.call.as_str());

    // What a screen saw: one event a fact, in order, without a gap, the text of the program among them.
    let facts = workspace.facts(&turn.conversation).await;
    let seqs: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    assert_eq!(walked.events.ids(), seqs);
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    let shown: Vec<_> = names(&walked.events.seen)
        .into_iter()
        .filter(|name| {
            !name.ends_with("-delta") && !matches!(*name, "fact" | "caught-up" | "tool-call-output")
        })
        .collect();
    for pair in [
        ["message-added", "turn-started"],
        ["turn-started", "step-completed"],
        ["tool-call-start", "approval-required"],
        ["approval-required", "turn-paused"],
        ["turn-paused", "approval-resolved"],
        ["approval-resolved", "turn-resumed"],
        ["turn-resumed", "tool-call-end"],
        ["tool-call-end", "turn-completed"],
    ] {
        let place = |name| {
            shown.iter().position(|shown| *shown == name).unwrap_or_else(|| panic!("no {name}: {shown:?}"))
        };
        assert!(place(pair[0]) < place(pair[1]), "{pair:?} in {shown:?}");
    }
    assert!(!shown.contains(&"step-reset"), "{shown:?}");
    let printed: String = walked
        .events
        .named("tool-call-output")
        .iter()
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    // Frames that come later than the call's end are replaced by it: all of them may.
    assert!(road::PRINTED.starts_with(&printed), "{printed}");
    let end = &walked.events.named("tool-call-end")[0].data;
    assert_eq!(
        (&end["callId"], &end["status"], &end["output"]["stdout"]),
        (&json!(call), &json!("completed"), &json!(road::PRINTED))
    );
    let asked = &walked.events.named("approval-required")[0].data;
    assert_eq!((&asked["capability"], &asked["risk"]), (&json!("agent.code.execute"), &json!("high")));
    assert_eq!(asked["input"]["code"], road::CODE);

    // What somebody who comes later reads.
    let view = workspace.settled(turn, "completed").await;
    let messages = view["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{view}");
    assert_eq!((&messages[0]["role"], &messages[0]["messageId"]), (&json!("user"), &json!(turn.message)));
    assert!(messages[0].get("parentMessageId").is_none());
    assert_eq!(
        (&messages[1]["role"], &messages[1]["parentMessageId"]),
        (&json!("assistant"), &json!(turn.message))
    );
    let blocks = messages[1]["blocks"].as_array().unwrap();
    let kinds: Vec<_> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "tool_call", "approval", "text"], "{blocks:?}");
    assert_eq!((&blocks[1]["callId"], &blocks[1]["status"]), (&json!(call), &json!("completed")));
    assert_eq!((&blocks[2]["status"], &blocks[2]["resolution"]), (&json!("approved"), &json!("approved")));
    assert_eq!(blocks[3]["text"], "It is 42.");

    stores_know_it_once(&walked, &workspace.tenant, &facts).await;
}

async fn stores_know_it_once(walked: &road::Walked, tenant: &str, facts: &[Value]) {
    let rows = Rows::of(&world().installation).await;
    let (turn, call) = (&walked.turn, walked.call.as_str());
    let row = road::one_of_each(&rows, tenant, call, "completed", 1).await;
    let last = facts
        .iter()
        .filter(|fact| fact["aggregateId"] == call)
        .map(|fact| fact["seq"].as_u64().unwrap())
        .max();
    assert_eq!(row["sequence"].as_u64(), last);
    let expected = json!({
        "conversation_id": turn.conversation, "turn_id": turn.id, "execution_id": turn.id, "capability": "agent.code.execute",
        "origin": "agent", "effect": "external", "risk_level": "high", "required_approval": true, "error": null,
        "input": {"language": "python", "code": road::CODE}, "approval_id": walked.approval,
    });
    for (column, value) in expected.as_object().unwrap() {
        assert_eq!(&row[column], value, "{column}");
    }
    assert_eq!((&row["output"]["exitCode"], &row["output"]["stdout"]), (&json!(0), &json!(road::PRINTED)));

    let sql = format!(
        "select id, parent_message_id, role from chat.messages where tenant_id = '{tenant}' order by role desc"
    );
    let messages = rows.postgres(&sql).await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[1]["parent_message_id"], messages[0]["id"]);

    let sql =
        format!("select resolution, tool_call_id from agent.approval_requests where tenant_id = '{tenant}'");
    let approval = road::one_row("the approval's row", async || rows.postgres(&sql).await).await;
    assert_eq!((&approval["resolution"], &approval["tool_call_id"]), (&json!("approved"), &json!(call)));

    let cypher = "MATCH (:Execution {tenant: $tenant})-[a:APPROVED_BY]->(u:User) RETURN a.approvalId AS id";
    let edge = road::one_row("an APPROVED_BY edge", async || {
        rows.neo4j(cypher, tenant).await.into_iter().map(Value::Object).collect()
    })
    .await;
    assert_eq!(edge["id"], walked.approval);

    let sql = format!(
        "select step, input_tokens, output_tokens from token_usage_final where tenant_id = '{tenant}' order by step"
    );
    let usage = oxagen_tests::until("two rows of token_usage", async || {
        Some(rows.clickhouse(&sql).await).filter(|usage| usage.len() == 2)
    })
    .await;
    assert!(usage.iter().all(|step| step["input_tokens"].as_u64() > Some(0)), "{usage:?}");
}
