//! Snapshots: the state is the same with one, without one, and with one that another form of the code has written.

use oxagen_domain::{Conversation, ConversationCommand, Entity, Message, MessageId, TurnId};
use oxagen_domain::{EventKind, OnBusy};
use oxagen_journal::{Journal, NewEvent};
use sqlx::Row;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use crate::base::{Base, metadata, open, scope};

/// A conversation with so many turns, each answered; gives the number of its events.
async fn talk(journal: &Journal, id: &str, turns: u128) -> u64 {
    let (mut state, mut events) = (Conversation::default(), Vec::new());
    for turn in 1..=turns {
        let turn_id = TurnId(Uuid::from_u128(turn));
        let message = Message {
            message_id: MessageId::derived(turn_id.0, "user"),
            parent_message_id: None,
            text: format!("message {turn}"),
            turn_id,
            assistant_message_id: MessageId::derived(turn_id.0, "assistant"),
        };
        let post = ConversationCommand::Post { message, on_busy: OnBusy::Reject };
        for command in [post, ConversationCommand::CloseTurn { turn_id }] {
            for event in state.decide(command).unwrap() {
                events.push(NewEvent {
                    aggregate_type: "conversation",
                    aggregate_id: id.to_owned(),
                    version: events.len() as u64 + 1,
                    kind: event.kind(),
                    form: event.version(),
                    payload: serde_json::to_value(&event).unwrap(),
                    metadata: metadata(),
                });
                state.evolve(event);
            }
        }
    }
    let count = events.len() as u64;
    journal.append(events, &[]).await.unwrap();
    count
}

/// The version of the snapshot, once there is one of at least this version.
async fn kept(connection: &mut PgConnection, id: &str, least: u64) -> (u64, String) {
    loop {
        let row = sqlx::query("select version, form from journal.snapshots where aggregate_id = $1")
            .bind(id)
            .fetch_optional(&mut *connection)
            .await
            .unwrap();
        let kept = row.map(|row| (row.get::<i64, _>("version").unsigned_abs(), row.get("form")));
        match kept {
            Some((version, form)) if version >= least => return (version, form),
            Some(_) | None => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_the_same_by_its_snapshot_and_by_all_its_events() {
    let base = Base::new().await;
    let mut beside = base.connection().await;
    let version = talk(&base.journal, "long", 60).await;
    let folded = base.journal.load::<Conversation>("long").await.unwrap();
    assert_eq!((folded.version, folded.scope, folded.state.parents.len()), (version, Some(scope(1)), 120));
    assert_eq!(kept(&mut beside, "long", version).await.0, version);

    // What the snapshot covers is not read any more: gone, it is not missed.
    let gone = "delete from journal.events where aggregate_id = 'long' and sequence between 2 and 100";
    sqlx::query(gone).execute(&mut beside).await.unwrap();
    let loaded = base.journal.load::<Conversation>("long").await.unwrap();
    assert_eq!((&loaded.state, loaded.version, loaded.scope), (&folded.state, version, folded.scope));

    // Events after it are folded on top, and it is not written again for a few.
    let more = ConversationCommand::Rename { title: "another".to_owned() };
    let event = loaded.state.decide(more).unwrap().remove(0);
    let renamed = NewEvent {
        aggregate_type: "conversation",
        aggregate_id: "long".to_owned(),
        version: version + 1,
        kind: event.kind(),
        form: event.version(),
        payload: serde_json::to_value(&event).unwrap(),
        metadata: metadata(),
    };
    base.journal.append(vec![renamed], &[]).await.unwrap();
    let loaded = open(&base.url, 2).await.load::<Conversation>("long").await.unwrap();
    assert_eq!((loaded.version, loaded.state.title.as_str()), (version + 1, "another"));
    assert_eq!(kept(&mut beside, "long", 1).await.0, version);
    base.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_another_form_or_a_damaged_one_is_ignored_and_a_short_history_has_none() {
    let base = Base::new().await;
    let mut beside = base.connection().await;
    let version = talk(&base.journal, "long", 60).await;
    let short = talk(&base.journal, "short", 3).await;
    assert_eq!(base.journal.load::<Conversation>("short").await.unwrap().version, short);
    let folded = base.journal.load::<Conversation>("long").await.unwrap().state;
    let (_, form) = kept(&mut beside, "long", version).await;

    let wrong = "update journal.snapshots set form = 'older', state = '{\"exists\": false}'";
    sqlx::query(wrong).execute(&mut beside).await.unwrap();
    assert_eq!(base.journal.load::<Conversation>("long").await.unwrap().state, folded);
    // The load before has put one of this form in its place.
    while kept(&mut beside, "long", version).await.1 != form {
        tokio::task::yield_now().await;
    }
    sqlx::query("update journal.snapshots set state = '[]'").execute(&mut beside).await.unwrap();
    assert_eq!(base.journal.load::<Conversation>("long").await.unwrap().state, folded);
    sqlx::query("delete from journal.snapshots").execute(&mut beside).await.unwrap();
    let loaded = base.journal.load::<Conversation>("long").await.unwrap();
    assert_eq!((loaded.state, loaded.version), (folded, version));
    let short = "select count(*) from journal.snapshots where aggregate_id = 'short'";
    assert_eq!(sqlx::query_scalar::<_, i64>(short).fetch_one(&mut beside).await.unwrap(), 0);
    base.close().await;
}
