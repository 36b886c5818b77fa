//! What the read models answer.

use chrono::{DateTime, Duration, Utc};
use oxagen_domain::turn::Usage;
use oxagen_projections::{Due, ExecutionKind, Page, QueryError};
use serde_json::json;

use crate::story::Story;
use crate::world::{World, take};

#[tokio::test]
async fn a_conversation_is_read_whole() {
    let world = World::new().await;
    let mut story = Story::new();
    let talk = story.turn();
    let facts = world.commit(&mut story).await;
    take(&world.postgres(), &facts).await;
    let view = world
        .queries()
        .await
        .conversation(story.scope, talk.conversation, Page::default())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(view.row.title, "What is six times seven?");
    assert_eq!(view.usage, Usage { input_tokens: 20, output_tokens: 10 });
    assert_eq!(view.last_seq, facts.last().unwrap().seq);
    let roles: Vec<_> = view.messages.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    let answer = serde_json::to_value(&view.messages[1]).unwrap();
    assert_eq!(answer["messageId"], json!(talk.answer));
    assert_eq!(answer["parentMessageId"], json!(talk.message));
    let kinds: Vec<_> =
        answer["blocks"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, ["reasoning", "text", "tool_call", "approval", "reasoning", "text"]);
    let (call, approval) = (&answer["blocks"][2], &answer["blocks"][3]);
    assert_eq!((&call["callId"], &call["status"]), (&json!(talk.call), &json!("completed")));
    assert_eq!(call["output"], json!({"stdout": "42\n"}));
    assert_eq!((&approval["resolution"], &approval["note"]), (&json!("approved"), &json!("go on")));
    world.end().await;
}

#[tokio::test]
async fn turns_calls_agents_and_keys_are_read() {
    let world = World::new().await;
    let mut story = Story::new();
    let (talk, direct) = (story.turn(), story.direct_call());
    take(&world.postgres(), &world.commit(&mut story).await).await;
    let queries = world.queries().await;

    let turn = queries.turn(story.scope, talk.turn).await.unwrap().unwrap();
    assert_eq!((turn.status.as_str(), turn.steps.len(), turn.tool_calls.len()), ("completed", 2, 1));
    assert_eq!(turn.usage, Usage { input_tokens: 20, output_tokens: 10 });
    let call = queries.tool_call(story.scope, direct).await.unwrap().unwrap();
    assert_eq!((call.status.as_str(), call.origin.as_str(), call.attempt), ("completed", "api", 1));
    assert!(!call.required_approval);
    let held = queries.tool_call(story.scope, talk.call).await.unwrap().unwrap();
    assert_eq!((held.required_approval, held.approval_id), (true, Some(talk.approval)));
    let agents = queries.agents(story.scope).await.unwrap();
    assert_eq!((agents[0].agent_version_id, agents[0].number), (story.agent_version, 1));
    let keys = queries.keys(story.scope, Page::default()).await.unwrap();
    assert_eq!(keys.items.len(), 1);
    assert!(!serde_json::to_string(&keys).unwrap().contains("0000000000000000000"));
    let workspaces = queries.workspaces().await.unwrap();
    assert_eq!((workspaces[0].scope, workspaces[0].name.as_str()), (story.scope, "home"));
    let enabled = world.rows("agent.tool_assignments where is_enabled_in_workspace").await;
    assert_eq!(enabled.len(), world.rows("agent.tools").await.len());
    world.end().await;
}

#[tokio::test]
async fn lists_are_paged_without_gaps_or_repeats() {
    let world = World::new().await;
    let mut story = Story::new();
    let mut talks: Vec<_> = (0..5).map(|_| story.held_turn()).collect();
    take(&world.postgres(), &world.commit(&mut story).await).await;
    let queries = world.queries().await;

    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = queries.approvals(story.scope, true, Page { limit: 2, cursor }).await.unwrap();
        seen.extend(page.items.iter().map(|row| row.approval_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, talks.iter().map(|talk| talk.approval).collect::<Vec<_>>());
    let first = queries.conversations(story.scope, Page { limit: 3, cursor: None }).await.unwrap();
    let second =
        queries.conversations(story.scope, Page { limit: 3, cursor: first.next_cursor }).await.unwrap();
    talks.reverse();
    let ids: Vec<_> = first.items.iter().chain(&second.items).map(|row| row.conversation_id).collect();
    assert_eq!(ids, talks.iter().map(|talk| talk.conversation).collect::<Vec<_>>());
    assert_eq!(second.next_cursor, None);
    let bad = Page { limit: 3, cursor: Some("x".to_owned()) };
    assert!(matches!(queries.conversations(story.scope, bad).await, Err(QueryError::BadCursor)));
    world.end().await;
}

#[tokio::test]
async fn what_was_left_lying_and_what_is_due_is_found() {
    let world = World::new().await;
    let mut story = Story::new();
    let talk = story.held_turn();
    take(&world.postgres(), &world.commit(&mut story).await).await;
    let queries = world.queries().await;
    let later = DateTime::<Utc>::MAX_UTC - Duration::days(365);

    // Paused with an open approval: it waits for a person, and its timer is due one day.
    assert_eq!(queries.stale_executions(later, 10).await.unwrap(), []);
    let approval = &queries.approvals(story.scope, true, Page::default()).await.unwrap().items[0];
    let before = approval.expires_at - Duration::seconds(1);
    assert_eq!(queries.due_timers(before, 10).await.unwrap(), []);
    let due = queries.due_timers(approval.expires_at, 10).await.unwrap();
    assert_eq!((due[0].scope, due[0].due), (story.scope, Due::ApprovalExpiry(talk.approval)));

    let finished = story.turn();
    take(&world.postgres(), &world.commit(&mut story).await).await;
    assert_eq!(queries.due_timers(later, 10).await.unwrap().len(), 1);

    // The approval is closed, yet nobody has told the turn.
    let mut owner = world.connection().await;
    sqlx::raw_sql("set oxagen.runtime = 'on'; update agent.approval_requests set resolved_at = now()")
        .execute(&mut owner)
        .await
        .unwrap();
    let stale = queries.stale_executions(later, 10).await.unwrap();
    assert_eq!((stale.len(), stale[0].kind, stale[0].turn), (1, ExecutionKind::Turn, Some(talk.turn)));
    assert_eq!((stale[0].scope, stale[0].conversation), (story.scope, Some(talk.conversation)));
    assert_ne!(talk.turn, finished.turn);
    world.end().await;
}
