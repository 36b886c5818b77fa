//! Numbers whatever has been committed, as soon as the bell rings, and every 50 ms without it.

use std::time::Duration;

use fail::fail_point;
use oxagen_jetstream::{Bus, doorbell};
use oxagen_journal::Sequencer;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::RelayError;
use crate::status::Board;

/// The longest time that an event waits for its number when no ring is heard.
const LOOK: Duration = Duration::from_millis(50);

/// Numbers until the leadership is lost, and says why it was.
pub(crate) async fn run(
    bus: &Bus,
    mut sequencer: Sequencer,
    head: &watch::Sender<u64>,
    board: &Board,
) -> RelayError {
    let mut bell = match doorbell::listen(bus).await {
        Ok(bell) => bell,
        Err(error) => return error.into(),
    };
    loop {
        let numbered = match sequencer.number().await {
            Ok(numbered) => numbered,
            Err(error) => return error.into(),
        };
        board.trouble("number", None);
        if numbered.count > 0 {
            fail_point!("relay.numbered", |_| std::process::abort());
            board.numbered(numbered.last);
            head.send_replace(numbered.last);
        }
        if !sequencer.is_behind() {
            // Who committed meanwhile has rung meanwhile. Rung or not, it is time to look then.
            let _ = timeout(LOOK, bell.rung()).await;
        }
    }
}
