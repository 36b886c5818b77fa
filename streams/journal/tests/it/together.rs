//! Commits and loads that wait at the same moment share a round trip, and each has the outcome that it would have alone.

use futures::future::join_all;
use oxagen_domain::Workspace;
use oxagen_journal::{AppendError, Guard};
use serde_json::json;

use crate::base::{Base, event, put, with};

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_commit_takes_no_other_with_it() {
    let base = Base::new().await;
    put(&base.journal, "policy", 1).await.unwrap();
    put(&base.journal, "there", 1).await.unwrap();
    let guard = |version| [Guard { aggregate_type: "workspace", aggregate_id: "policy".to_owned(), version }];
    let outcomes = join_all((0..400).map(async |number: u32| {
        let id = format!("w{number}");
        let journal = &base.journal;
        match number % 4 {
            0 => journal.append(vec![event("there", 1)], &guard(1)).await,
            1 => journal.append(vec![event(&id, 1), event(&id, 2)], &guard(9)).await,
            // The server refuses the whole transaction for this one.
            2 if number == 202 => {
                journal.append(vec![with(&id, 0, "workspace.created", json!({}))], &[]).await
            }
            _ => journal.append(vec![event(&id, 1), event(&id, 2)], &guard(1)).await,
        }
    }))
    .await;
    for (number, outcome) in outcomes.iter().enumerate() {
        let there = base.journal.load::<Workspace>(&format!("w{number}")).await.unwrap().version;
        match number % 4 {
            0 => assert!(matches!(outcome, Err(AppendError::Conflict)), "{outcome:?}"),
            1 => assert!(matches!(outcome, Err(AppendError::GuardFailed { .. })), "{outcome:?}"),
            2 if number == 202 => assert!(matches!(outcome, Err(AppendError::Journal(_))), "{outcome:?}"),
            _ => assert_eq!((outcome.as_ref().unwrap().len(), there), (2, 2)),
        }
        assert!(outcome.is_ok() || there == 0, "{number} is there all the same");
    }
    assert_eq!(base.number().await, 2 + 2 * 199);
    base.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_to_one_aggregate_at_once_are_one_after_the_other() {
    let base = Base::new().await;
    let racers = join_all((0..50).map(|_| put(&base.journal, "w", 1))).await;
    assert_eq!(racers.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    // The later one is later, or comes too early and is told so.
    let (second, third) = futures::join!(put(&base.journal, "w", 2), put(&base.journal, "w", 3));
    let second = second.unwrap()[0].position;
    match third {
        Ok(third) => assert!(second < third[0].position),
        Err(error) => assert!(matches!(error, AppendError::Conflict), "{error}"),
    }
    base.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_sees_what_was_committed_before_it() {
    let base = Base::new().await;
    join_all((0..20).map(async |number: u32| {
        let id = format!("w{}", number % 4);
        for _ in 0..10 {
            let version = base.journal.load::<Workspace>(&id).await.unwrap().version;
            if put(&base.journal, &id, version + 1).await.is_ok() {
                assert!(base.journal.load::<Workspace>(&id).await.unwrap().version > version);
            }
        }
    }))
    .await;
    assert_eq!(base.journal.load::<Workspace>("nobody").await.unwrap().version, 0);
    base.close().await;
}
