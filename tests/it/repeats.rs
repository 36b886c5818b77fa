//! F32: messages that come again, workers that share the work, work that takes longer than a message may be silent, and
//! a repeat that is wanted. Effects happen once; what is wanted again happens again.

use async_nats::HeaderMap;
use async_nats::jetstream;
use oxagen_tests::{Installation, Rows, Turn, Workspace, code, reply, scenario, word};
use serde_json::Value;

use crate::road;

const OTHERS: &[&str] =
    &["gateway", "relay", "projector-postgres", "projector-clickhouse", "projector-neo4j"];
/// Runs longer than a message may go unacknowledged (3 s).
const CODE: &str = "import time\nprint('once', flush=True)\ntime.sleep(5)";

fn count(facts: &[Value], kind: &str) -> usize {
    facts.iter().filter(|fact| fact["type"] == kind).count()
}

/// Approves what the turn asks, twice, and reads to its end; gives the call.
async fn approved(workspace: &Workspace, turn: &Turn) -> String {
    let mut events = workspace.events(&turn.conversation).await;
    let asked = events.until("approval-required").await.data;
    let approval = asked["approvalId"].as_str().unwrap();
    assert_eq!(workspace.approve(approval).await, workspace.approve(approval).await);
    assert_eq!(events.turn_end().await.name, "turn-completed");
    asked["callId"].as_str().unwrap().to_owned()
}

/// The call ran once: a second attempt only where another runner had to take the turn over.
async fn ran_once(rows: &Rows, workspace: &Workspace, turn: &Turn, call: &str) {
    let facts = workspace.facts(&turn.conversation).await;
    road::sound(&facts);
    let of_call: Vec<_> = facts.iter().filter(|fact| fact["aggregateId"] == call).cloned().collect();
    assert_eq!(count(&of_call, "tool_call.completed"), 1, "{of_call:?}");
    assert_eq!((count(&facts, "approval.approved"), count(&facts, "turn.completed")), (1, 1));
    let starts = count(&of_call, "tool_call.started");
    assert!((1..=1 + count(&facts, "turn.taken_over")).contains(&starts), "{of_call:?}");
    let row = road::one_of_each(rows, &workspace.tenant, call, "completed", starts as u64).await;
    assert_eq!(row["output"]["stdout"], "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn f32_repeated_messages_and_two_of_each_worker_have_one_effect_and_a_wanted_repeat_is_not_lost() {
    let installation = Installation::new().await;
    let others = installation.start(OTHERS).await;
    let mut workers = Vec::new();
    for role in ["runner", "runner", "reactor", "reactor"] {
        workers.push(installation.start(&[role]).await);
    }
    let workspace = installation.workspace(&others.url).await;
    let (rows, word) = (Rows::of(&installation).await, word("repeats"));
    let replies = vec![reply("I run it.", vec![code(CODE)]), reply("Done.", vec![])];
    installation.model.add_scenarios(vec![scenario(&word, replies)]);
    let first = workspace.say(&word).await;
    let call = approved(&workspace, &first).await;
    ran_once(&rows, &workspace, &first, &call).await;

    // Every message once more: the server knows them, and where it does not know them any more the place is taken.
    let url = installation.servers.nats_url.split(',').next().unwrap();
    let context = jetstream::new(async_nats::connect(url).await.unwrap());
    let stream = context.get_stream(format!("{}_FACTS", installation.name)).await.unwrap();
    let head = stream.get_info().await.unwrap().state.last_sequence;
    for seq in 1..=head {
        let message = stream.get_raw_message(seq).await.unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", message.headers.get("Nats-Msg-Id").unwrap().as_str());
        headers.insert("Nats-Expected-Last-Sequence", "0");
        let published =
            context.publish_with_headers(message.subject, headers, message.payload).await.unwrap();
        if let Ok(taken) = published.await {
            assert!(taken.duplicate, "fact {seq} was taken in a second time");
        }
    }

    // The very same thing again, at once: it is wanted, so it happens.
    let second = workspace.say(&word).await;
    let again = approved(&workspace, &second).await;
    assert_ne!(call, again);
    for (turn, call) in [(&first, &call), (&second, &again)] {
        ran_once(&rows, &workspace, turn, call).await;
    }
    drop(workers);
}
