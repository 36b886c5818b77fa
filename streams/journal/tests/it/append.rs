//! Appending: versions, several aggregates at once, NUL characters, the doorbell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use oxagen_domain::{Fact, Workspace};
use oxagen_journal::{AppendError, Doorbell, JournalError};
use serde_json::json;

use crate::base::{Base, event, open, put, with};

#[tokio::test(flavor = "multi_thread")]
async fn f30_a_hundred_commands_at_once_get_the_versions_one_to_n() {
    let base = Base::new().await;
    let other = open(&base.url, 8).await;
    let conflicts = AtomicU32::new(0);
    let command = |number: usize| {
        let journal = if number.is_multiple_of(2) { &base.journal } else { &other };
        let conflicts = &conflicts;
        async move {
            loop {
                let version = journal.load::<Workspace>("w").await.unwrap().version;
                match put(journal, "w", version + 1).await {
                    Ok(_) => return,
                    Err(AppendError::Conflict) => _ = conflicts.fetch_add(1, Ordering::Relaxed),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    join_all((0..100).map(command)).await;
    assert_eq!(base.number().await, 100);
    let facts = base.journal.read(0, 1000).await.unwrap();
    let versions: Vec<_> = facts.iter().map(|fact| fact.aggregate_version).collect();
    assert_eq!(versions, (1..=100).collect::<Vec<_>>());
    assert!(conflicts.into_inner() > 0, "nobody raced");
    base.close().await;
}

#[tokio::test]
async fn a_commit_is_whole_or_not_at_all() {
    let base = Base::new().await;
    let events = vec![event("a", 1), event("b", 1), event("a", 2)];
    let appended = base.journal.append(events, &[]).await.unwrap();
    assert_eq!(appended.iter().map(|event| event.version).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(appended.is_sorted_by_key(|event| event.position), "positions follow the order of the commit");
    assert_eq!(appended[2].event_id, Fact::event_id("workspace", "a", 2));

    let events = vec![event("c", 1), event("a", 2)];
    assert!(matches!(base.journal.append(events, &[]).await, Err(AppendError::Conflict)));
    assert_eq!(base.journal.load::<Workspace>("c").await.unwrap().version, 0);
    let a = base.journal.load::<Workspace>("a").await.unwrap();
    assert_eq!((a.version, a.state.name.as_deref()), (2, Some("first")));
    base.close().await;
}

#[tokio::test]
async fn a_nul_character_does_not_break_a_commit() {
    let base = Base::new().await;
    let mut created = with("a", 1, "workspace.created", json!({"type": "created", "name": "x\0y"}));
    created.metadata.actor.id = "user\0".to_owned();
    base.journal.append(vec![created], &[]).await.unwrap();
    base.number().await;
    let facts = base.journal.read(0, 10).await.unwrap();
    assert_eq!(facts[0].payload, json!({"name": "x\u{FFFD}y"}));
    assert_eq!(facts[0].actor.id, "user\u{FFFD}");
    base.close().await;
}

#[tokio::test]
async fn an_event_of_a_newer_build_is_named_and_kept() {
    let base = Base::new().await;
    let newer = with("a", 1, "workspace.folded", json!({"type": "folded", "times": 7}));
    base.journal.append(vec![newer], &[]).await.unwrap();
    let error = base.journal.load::<Workspace>("a").await.unwrap_err();
    assert!(matches!(error, JournalError::Unreadable { aggregate_type: "workspace", .. }), "{error}");
    base.number().await;
    let facts = base.journal.read(0, 10).await.unwrap();
    assert_eq!((facts[0].kind.as_str(), &facts[0].payload), ("workspace.folded", &json!({"times": 7})));
    assert_eq!(facts[0].event().unwrap(), None);
    base.close().await;
}

#[tokio::test]
async fn the_bell_rings_after_each_commit_and_only_then() {
    struct Bell(AtomicU32);
    impl Doorbell for Bell {
        fn ring(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let base = Base::new().await;
    let bell = Arc::new(Bell(AtomicU32::new(0)));
    let journal = base.journal.clone().with_doorbell(bell.clone());
    put(&journal, "a", 1).await.unwrap();
    put(&journal, "a", 1).await.unwrap_err();
    put(&journal, "a", 2).await.unwrap();
    assert_eq!(bell.0.load(Ordering::Relaxed), 2);
    base.close().await;
}
