//! Puts on the stream whatever lies above the stream's own last sequence.

use std::convert::Infallible;
use std::time::Duration;

use fail::fail_point;
use oxagen_jetstream::publish::Publisher;
use oxagen_jetstream::topology;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::warn;

use crate::RelayOptions;
use crate::backoff::Backoff;
use crate::error::RelayError;
use crate::status::Board;

/// Facts read and published at a time.
const BATCH: u32 = 1_000;
/// How often an idle relay looks whether the stream still ends where it left it.
const LOOK: Duration = Duration::from_secs(2);

/// Publishes for ever; whatever goes wrong, it begins again from what the stream holds.
pub(crate) async fn run(options: &RelayOptions, mut head: watch::Receiver<u64>, board: &Board) -> Infallible {
    let mut backoff = Backoff::default();
    loop {
        let Err(error) = publish(options, &mut head, board, &mut backoff).await;
        board.trouble("publish", Some(&error));
        backoff.wait().await;
    }
}

async fn publish(
    options: &RelayOptions,
    head: &mut watch::Receiver<u64>,
    board: &Board,
    backoff: &mut Backoff,
) -> Result<Infallible, RelayError> {
    let publisher = Publisher::new(&options.bus);
    let numbered = *head.borrow();
    topology::apply(&options.bus, numbered, options.streams).await?;
    let mut last = publisher.last_sequence().await?;
    // Asked anew, and after the stream: by now another relay may lead and be further than this one knows. A
    // number is on the stream only after it is in the journal, so a stream ahead belongs to another history.
    let numbered = options.journal.head().await?;
    if last > numbered {
        warn!(stream = last, journal = numbered, "the stream is ahead of the journal and is made again");
        topology::remake(&options.bus, numbered, options.streams).await?;
        last = publisher.last_sequence().await?;
    }
    let mut is_well = |last| {
        board.published(last);
        board.trouble("publish", None);
        backoff.reset();
    };
    loop {
        // Whatever has a number now is read in one go; without any the journal is not asked.
        if *head.borrow_and_update() <= last {
            is_well(last);
            if timeout(LOOK, head.wait_for(|head| *head > last)).await.is_err() {
                let found = publisher.last_sequence().await?;
                if found != last {
                    return Err(RelayError::Cut { expected: last, found });
                }
            }
            continue;
        }
        let facts = options.journal.read(last, BATCH).await?;
        if let Some(fact) = facts.last() {
            fail_point!("relay.publish", |_| std::process::abort());
            publisher.publish(&facts).await?;
            fail_point!("relay.published", |_| std::process::abort());
            last = fact.seq;
            is_well(last);
        }
    }
}
