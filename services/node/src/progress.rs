//! Says on stderr what is waited for, when it takes more than two seconds.

use std::future::Future;
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::time::Duration;

use tokio::time::Instant;

use crate::output::{note, note_piece};

/// Waiting that is not worth a word.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two words where lines stay.
const REPEAT: Duration = Duration::from_secs(15);

/// Awaits `work`; `what` is said when that takes long, such as `migrating Postgres`.
pub(crate) async fn during<T>(what: &str, work: impl Future<Output = T>) -> T {
    let (mut work, begun) = (pin!(work), Instant::now());
    let on_terminal = io::stderr().is_terminal();
    let mut next = begun + PATIENCE;
    let mut drawn = false;
    loop {
        tokio::select! {
            done = &mut work => {
                if drawn {
                    note_piece("\r\x1b[K");
                }
                return done;
            }
            () = tokio::time::sleep_until(next) => {
                let text = format!("{what} … {} s", begun.elapsed().as_secs());
                if on_terminal {
                    note_piece(&format!("\r\x1b[K{text}"));
                    drawn = true;
                } else {
                    note(text);
                }
                next += if on_terminal { Duration::from_secs(1) } else { REPEAT };
            }
        }
    }
}
