//! What is kept beside the events: large bodies and dead letters.

use oxagen_domain::Digest;
use oxagen_journal::DeadLetter;

use crate::base::{Base, at, scope};

#[tokio::test]
async fn a_body_is_kept_once_and_only_for_its_tenant() {
    let base = Base::new().await;
    let bytes = vec![7_u8; 9 * 1024 * 1024];
    let (digest, tenant) = (Digest::of(&bytes), scope(1).tenant);
    base.journal.put_object(tenant, &digest, &bytes).await.unwrap();
    base.journal.put_object(tenant, &digest, &bytes).await.unwrap();
    assert_eq!(base.journal.object(tenant, &digest).await.unwrap(), Some(bytes));
    assert_eq!(base.journal.object(scope(100).tenant, &digest).await.unwrap(), None);
    base.close().await;
}

#[tokio::test]
async fn a_dead_letter_is_listed_shown_and_dug_out_once() {
    let base = Base::new().await;
    let letters = base.journal.dead_letters();
    let letter = |reader: &str, seq| DeadLetter {
        reader: reader.to_owned(),
        seq,
        error: "does not fit".to_owned(),
        attempts: 5,
        first_at: at(0),
        last_at: at(9),
    };
    letters.bury(&letter("a", 7)).await.unwrap();
    letters.bury(&letter("b", 3)).await.unwrap();
    letters.bury(&letter("a", 7)).await.unwrap();
    let buried = DeadLetter { attempts: 10, ..letter("a", 7) };
    assert_eq!(letters.list(None, 10).await.unwrap(), [letter("b", 3), buried.clone()]);
    assert_eq!(letters.list(Some("a"), 10).await.unwrap(), std::slice::from_ref(&buried));
    assert_eq!(letters.show("a", 7).await.unwrap(), Some(buried.clone()));
    assert_eq!(letters.retry("a", 7).await.unwrap(), Some(buried));
    assert_eq!(letters.retry("a", 7).await.unwrap(), None);
    assert!(letters.discard("b", 3).await.unwrap());
    assert!(!letters.discard("b", 3).await.unwrap());
    base.close().await;
}
