//! The relay: gives every committed event its number, and puts the numbered facts on the stream.
//!
//! Any number of relays may run; one leads and the others stand by. The journal's advisory lock makes the
//! leader, and the stream refuses whatever does not come next, so a former leader cannot do harm.

mod backoff;
mod error;
mod number;
mod publish;
mod status;

use std::time::{Duration, Instant};

use oxagen_jetstream::Bus;
use oxagen_jetstream::topology::Settings;
use oxagen_journal::{Journal, Sequencer};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
pub use crate::error::RelayError;
use crate::status::Board;
pub use crate::status::{Handle, Status};

/// Time between two attempts of a relay that stands by to become the leader.
const STANDBY: Duration = Duration::from_millis(500);
/// Whoever led for longer than this lost it for a new reason.
const SETTLED: Duration = Duration::from_secs(10);

/// What a relay works with.
#[derive(Clone)]
pub struct RelayOptions {
    /// The journal.
    pub journal: Journal,
    /// The connection to NATS.
    pub bus: Bus,
    /// What an installation chooses about its streams.
    pub streams: Settings,
}

/// One relay.
pub struct Relay {
    options: RelayOptions,
    board: Board,
}

impl Relay {
    /// A relay that does not run yet.
    pub fn new(options: RelayOptions) -> Self {
        Self { options, board: Board::default() }
    }

    /// What this relay is doing; cheap to clone, and valid while it runs.
    pub fn handle(&self) -> Handle {
        self.board.handle()
    }

    /// Leads or stands by until told to stop. Servers that are away are waited for; trouble is logged when it
    /// begins, when it changes and when it is over, and is in [`Status::trouble`] meanwhile.
    pub async fn run(self, shutdown: CancellationToken) {
        // Everything that is stopped midway is done again by the next leader, from what is stored.
        shutdown.run_until_cancelled(self.serve()).await;
    }

    async fn serve(&self) {
        let mut backoff = Backoff::default();
        loop {
            match Sequencer::lead(&self.options.journal).await {
                Ok(Some(sequencer)) => {
                    self.board.leads(sequencer.last());
                    let since = Instant::now();
                    let error = self.lead(sequencer).await;
                    if since.elapsed() > SETTLED {
                        backoff.reset();
                    }
                    self.board.stands_by();
                    self.board.trouble("number", Some(&error));
                }
                Ok(None) => {
                    self.board.trouble("number", None);
                    backoff.reset();
                    backoff::jittered(STANDBY).await;
                    continue;
                }
                Err(error) => self.board.trouble("number", Some(&error.into())),
            }
            backoff.wait().await;
        }
    }

    /// Numbers and publishes side by side: facts keep getting numbers while NATS is away.
    async fn lead(&self, sequencer: Sequencer) -> RelayError {
        let (numbered, head) = watch::channel(sequencer.last());
        tokio::select! {
            error = number::run(&self.options.bus, sequencer, &numbered, &self.board) => error,
            never = publish::run(&self.options, head, &self.board) => match never {},
        }
    }
}
