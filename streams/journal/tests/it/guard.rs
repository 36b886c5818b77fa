//! Guards: what a decision rests on still stands when it is committed, also against a commit in flight.

use futures::future::{join, join_all};
use oxagen_journal::{AppendError, Guard, Journal};

use crate::base::{Base, event, open, put};

fn guard(id: &str, version: u64) -> Guard {
    Guard { aggregate_type: "workspace", aggregate_id: id.to_owned(), version }
}

#[tokio::test]
async fn a_guard_stands_for_exactly_its_version() {
    let base = Base::new().await;
    put(&base.journal, "policy", 1).await.unwrap();
    let append = |id: &'static str, guards: Vec<Guard>| {
        let journal = base.journal.clone();
        async move { journal.append(vec![event(id, 1)], &guards).await }
    };
    append("a", vec![guard("policy", 1), guard("absent", 0)]).await.unwrap();
    for wrong in [guard("policy", 0), guard("policy", 2), guard("absent", 1)] {
        let name = wrong.aggregate_id.clone();
        match append("b", vec![guard("policy", 1), wrong]).await {
            Err(AppendError::GuardFailed { aggregate_id, .. }) => assert_eq!(aggregate_id, name),
            other => panic!("{other:?}"),
        }
    }
    // What is guarded may be written by the same commit.
    append("c", vec![guard("c", 0)]).await.unwrap();
    // Guards alone are a question.
    assert_eq!(base.journal.append(vec![], &[guard("policy", 1)]).await.unwrap(), []);
    base.journal.append(vec![], &[guard("policy", 9)]).await.unwrap_err();
    base.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_guarded_commit_comes_after_the_change_that_it_was_guarded_against() {
    let base = Base::new().await;
    put(&base.journal, "policy", 1).await.unwrap();
    // Another process: within one, commits that touch the same thing never meet on the server.
    let other = open(&base.url, 8).await;
    for version in 1..=40_u64 {
        let journal = &base.journal;
        let guarded = (0..6).map(async |number| {
            let id = format!("{version}/{number}");
            journal.append(vec![event(&id, 1)], &[guard("policy", version)]).await
        });
        let (changed, guarded) = join(put(&other, "policy", version + 1), join_all(guarded)).await;
        let changed = changed.unwrap()[0].position;
        for outcome in guarded {
            match outcome {
                Ok(appended) => {
                    assert!(appended[0].position < changed, "a guarded commit came after the change");
                }
                Err(AppendError::GuardFailed { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    // Who wins such a race is chance; what comes clearly before or after has its own outcome.
    let append = async |id: &str| base.journal.append(vec![event(id, 1)], &[guard("policy", 41)]).await;
    append("before").await.unwrap();
    put(&other, "policy", 42).await.unwrap();
    assert!(matches!(append("after").await, Err(AppendError::GuardFailed { .. })));
    base.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_guard_what_the_others_write_do_not_wait_in_a_circle() {
    let base = Base::new().await;
    put(&base.journal, "a", 1).await.unwrap();
    put(&base.journal, "b", 1).await.unwrap();
    let other = open(&base.url, 8).await;
    for version in 1..=30_u64 {
        let journal = &base.journal;
        let crossed = async |journal: &Journal, write: &str, rests_on: &str| {
            journal.append(vec![event(write, version + 1)], &[guard(rests_on, version)]).await
        };
        let outcomes = join(crossed(journal, "a", "b"), crossed(&other, "b", "a")).await;
        // Each rests on the version that the other one ends: exactly one can be right.
        let won = [&outcomes.0, &outcomes.1].iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{outcomes:?}");
        let loser = if outcomes.0.is_ok() { "b" } else { "a" };
        put(journal, loser, version + 1).await.unwrap();
    }
    base.close().await;
}
