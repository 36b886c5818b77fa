//! Numbering: nothing missed, no gap, one leader.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures::future::join_all;
use oxagen_domain::Fact;
use oxagen_journal::{Journal, JournalError, Sequencer};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use tokio::sync::oneshot;

use crate::base::{Base, event, lead, open, put};

const KILL_LEADER: &str = "
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and application_name = 'oxagen-journal' and query like '%numbered%'";

/// Writes an event past the journal's own append, so that its transaction can be held open.
async fn insert(connection: &mut PgConnection, id: &str) {
    const INSERT: &str = "
        insert into journal.events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
        select aggregate_type, $1, 1, event_type, event_version, payload, metadata from journal.events
        where aggregate_id = 'model'";
    assert_eq!(sqlx::query(INSERT).bind(id).execute(connection).await.unwrap().rows_affected(), 1);
}

/// Follows the journal by number until all these facts have come.
async fn follow(journal: &Journal, count: usize) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    while facts.len() < count {
        let page = journal.read(facts.len() as u64, 1000).await.unwrap();
        if page.is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        for fact in page {
            assert_eq!(fact.seq, facts.len() as u64 + 1, "a gap");
            facts.push(fact);
        }
    }
    facts
}

fn assert_ordered(facts: &[Fact]) {
    let mut versions: HashMap<&str, u64> = HashMap::new();
    for fact in facts {
        let before = versions.insert(&fact.aggregate_id, fact.aggregate_version).unwrap_or(0);
        assert_eq!(fact.aggregate_version, before + 1, "{} is out of order", fact.aggregate_id);
    }
    let ids: HashSet<_> = facts.iter().map(|fact| fact.event_id).collect();
    assert_eq!(ids.len(), facts.len(), "a fact came twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn f31_open_and_rolled_back_transactions_hide_nothing() {
    let base = Base::new().await;
    put(&base.journal, "model", 1).await.unwrap();
    let (stop, mut stopped) = oneshot::channel::<()>();
    let mut sequencer = lead(&base.journal).await;
    let numbering = tokio::spawn(async move {
        while stopped.try_recv().is_err() {
            if sequencer.number().await.unwrap().count == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });

    let mut open_one = base.connection().await;
    let mut held = open_one.begin().await.unwrap();
    insert(&mut held, "held").await;
    let mut other_one = base.connection().await;
    let mut undone = other_one.begin().await.unwrap();
    insert(&mut undone, "undone").await;
    undone.rollback().await.unwrap();

    let pools = join_all((0..5).map(|_| open(&base.url, 10))).await;
    let writers = (0..50).map(|writer| {
        let journal = pools[writer % 5].clone();
        tokio::spawn(async move {
            for version in 1..=200 {
                put(&journal, &format!("w{writer}"), version).await.unwrap();
            }
        })
    });
    let writers = join_all(writers);
    let release = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        held.commit().await.unwrap();
    };
    let reader = tokio::spawn({
        let journal = base.journal.clone();
        async move { follow(&journal, 10_002).await }
    });
    let (written, ()) = futures::future::join(writers, release).await;
    written.into_iter().for_each(|writer| writer.unwrap());
    let facts = reader.await.unwrap();
    stop.send(()).unwrap();
    numbering.await.unwrap();

    assert_ordered(&facts);
    assert!(facts.iter().any(|fact| fact.aggregate_id == "held"));
    assert!(facts.iter().all(|fact| fact.aggregate_id != "undone"));
    assert_eq!(base.journal.head().await.unwrap(), 10_002);
    for pool in pools {
        pool.pool().close().await;
    }
    base.close().await;
}

#[tokio::test]
async fn a_backlog_is_numbered_while_an_older_transaction_is_open() {
    let base = Base::new().await;
    put(&base.journal, "model", 1).await.unwrap();
    let mut connection = base.connection().await;
    let mut held = connection.begin().await.unwrap();
    insert(&mut held, "held").await;
    for chunk in 0..13_u64 {
        let events = (chunk * 1000 + 1..=(chunk + 1) * 1000).map(|version| event("long", version)).collect();
        base.journal.append(events, &[]).await.unwrap();
    }
    assert_eq!(base.number().await, 13_001);
    held.commit().await.unwrap();
    assert_eq!(base.number().await, 13_002);
    let facts = follow(&base.journal, 13_002).await;
    assert_ordered(&facts);
    assert_eq!(facts[13_001].aggregate_id, "held");
    base.close().await;
}

#[tokio::test]
async fn numbers_go_on_after_a_restart_whatever_the_age_of_the_saved_snapshot() {
    let base = Base::new().await;
    for version in 1..=3 {
        put(&base.journal, "a", version).await.unwrap();
        assert_eq!(base.number().await, version);
    }
    base.connection().await.execute("update journal.sequencer_state set snapshot = '1:1:'").await.unwrap();
    put(&base.journal, "a", 4).await.unwrap();
    let mut sequencer = lead(&base.journal).await;
    let numbered = sequencer.number().await.unwrap();
    assert_eq!((numbered.first, numbered.last, numbered.count), (4, 4, 1));
    assert_eq!(sequencer.number().await.unwrap().count, 0);
    assert_ordered(&follow(&base.journal, 4).await);
    base.close().await;
}

#[tokio::test]
async fn there_is_one_leader_and_the_next_one_goes_on_when_it_is_killed() {
    let base = Base::new().await;
    let mut first = lead(&base.journal).await;
    put(&base.journal, "a", 1).await.unwrap();
    assert_eq!(first.number().await.unwrap().last, 1);
    assert!(Sequencer::lead(&base.journal).await.unwrap().is_none());

    base.connection().await.execute(KILL_LEADER).await.unwrap();
    let mut second = lead(&base.journal).await;
    put(&base.journal, "a", 2).await.unwrap();
    assert!(matches!(first.number().await, Err(JournalError::Unavailable { .. })), "the first one is fenced");
    assert_eq!(second.number().await.unwrap().last, 2);
    base.close().await;
}

#[tokio::test]
async fn a_journal_from_another_cluster_is_not_numbered() {
    let base = Base::new().await;
    base.connection()
        .await
        .execute("update journal.sequencer_state set system_identifier = 7")
        .await
        .unwrap();
    let refused = Sequencer::lead(&base.journal).await.err().unwrap();
    assert!(matches!(refused, JournalError::OtherCluster { was: 7, .. }), "{refused}");
    base.close().await;
}
