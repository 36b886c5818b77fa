//! Which runner is alive.

use std::time::Duration;

use oxagen_domain::RunnerId;
use oxagen_journal::JournalError;
use sqlx::Executor;
use uuid::Uuid;

use crate::base::Base;

const KILL_OWNERS: &str = "
select pg_terminate_backend(pid) from pg_locks
where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";

#[tokio::test]
async fn a_runner_is_alive_as_long_as_its_session() {
    let base = Base::new().await;
    let (runner, other) = (RunnerId(Uuid::from_u128(1)), RunnerId(Uuid::from_u128(2)));
    let mut ownership = base.journal.own(runner).await.unwrap();
    ownership.check().await.unwrap();
    assert!(base.journal.is_alive(runner).await.unwrap());
    assert!(!base.journal.is_alive(other).await.unwrap());
    assert!(matches!(base.journal.own(runner).await, Err(JournalError::Owned { .. })));

    drop(ownership);
    while base.journal.is_alive(runner).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    base.journal.own(runner).await.unwrap();
    base.close().await;
}

#[tokio::test]
async fn a_runner_learns_that_its_session_is_gone() {
    let base = Base::new().await;
    let runner = RunnerId(Uuid::from_u128(1));
    let mut ownership = base.journal.own(runner).await.unwrap();
    base.connection().await.execute(KILL_OWNERS).await.unwrap();
    assert_eq!(ownership.lost().await.runner, runner);
    ownership.check().await.unwrap_err();
    // The server tells the session before it lets go of its lock.
    while base.journal.is_alive(runner).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    base.close().await;
}
