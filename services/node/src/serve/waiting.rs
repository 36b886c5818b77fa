//! Waits for a server that is away: tries with backoff, and says in one line which one, where, and what to do.

use std::future::Future;
use std::time::Duration;

use oxagen_commands::CommandError;
use oxagen_jetstream::JetStreamError;
use oxagen_journal::JournalError;
use oxagen_migrations::MigrationError;
use oxagen_projections::QueryError;
use oxagen_sandbox::SandboxError;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

use crate::config::mask;
use crate::failure::Failure;

/// The first wait between two attempts; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// How often the same trouble is told.
const REPEAT: Duration = Duration::from_secs(30);
/// The longest wait for a connection of a probe.
const PROBE: Duration = Duration::from_secs(3);

/// A server that is needed.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// What it is, for people.
    pub(crate) what: &'static str,
    /// Where it is looked for, without secrets.
    pub(crate) at: String,
    /// The setting that says so.
    pub(crate) setting: &'static str,
}

/// Why an attempt brought nothing.
pub(crate) enum Trouble {
    /// It may go well later.
    Passing(String),
    /// It never will.
    Final(Failure),
}

impl Server {
    /// A server at this address.
    pub(crate) fn new(what: &'static str, address: &str, setting: &'static str) -> Self {
        Self { what, at: mask::address(address), setting }
    }

    /// Attempts until it answers.
    ///
    /// # Errors
    /// What no waiting mends.
    pub(crate) async fn until_it_answers<T, A, F>(&self, mut attempt: A) -> Result<T, Failure>
    where
        A: FnMut() -> F,
        F: Future<Output = Result<T, Trouble>>,
    {
        let (mut wait, mut told) = (FIRST, None::<(String, Instant)>);
        loop {
            let trouble = match attempt().await {
                Ok(answer) => {
                    if told.is_some() {
                        info!("{} at {} answers now", self.what, self.at);
                    }
                    return Ok(answer);
                }
                Err(Trouble::Final(failure)) => return Err(failure),
                Err(Trouble::Passing(trouble)) => trouble,
            };
            let is_news =
                told.as_ref().is_none_or(|(text, since)| *text != trouble || since.elapsed() > REPEAT);
            if is_news {
                let Self { what, at, setting } = self;
                warn!("waiting for {what} at {at}: {trouble}. Start it, or set {setting} to where it is");
                told = Some((trouble, Instant::now()));
            }
            sleep(wait.mul_f64(rand::random_range(0.75..1.25))).await;
            wait = (wait * 2).min(LONGEST);
        }
    }

    /// Waits until something accepts connections there.
    ///
    /// # Errors
    /// An address without a host.
    pub(crate) async fn until_it_accepts(&self, address: &str, port: u16) -> Result<(), Failure> {
        let url = reqwest::Url::parse(address).ok();
        let place = url
            .as_ref()
            .and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default().unwrap_or(port))));
        let Some((host, port)) = place else {
            return Err(Failure::Usage(format!("{}: {} has no host", self.setting, self.at)));
        };
        let host = host.trim_matches(['[', ']']).to_owned();
        self.until_it_answers(|| async {
            match timeout(PROBE, TcpStream::connect((host.as_str(), port))).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(Trouble::Passing(error.to_string())),
                Err(_) => Err(Trouble::Passing(format!("no answer within {} s", PROBE.as_secs()))),
            }
        })
        .await
    }
}

impl From<JournalError> for Trouble {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unavailable { source } => Self::Passing(source.to_string()),
            error => Self::Final(error.into()),
        }
    }
}

impl From<QueryError> for Trouble {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Unavailable { source } => Self::Passing(source.to_string()),
            error => Self::Final(Failure::Failed(error.to_string())),
        }
    }
}

impl From<JetStreamError> for Trouble {
    fn from(error: JetStreamError) -> Self {
        match error {
            JetStreamError::Connect { cause, .. } | JetStreamError::Unavailable { cause, .. } => {
                Self::Passing(cause.to_string())
            }
            error => Self::Final(error.into()),
        }
    }
}

impl From<MigrationError> for Trouble {
    fn from(error: MigrationError) -> Self {
        match error {
            MigrationError::Unavailable { cause, .. } => Self::Passing(cause),
            error => Self::Final(error.into()),
        }
    }
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Unreachable { cause, .. } => Self::Passing(cause.to_string()),
            // An image may still be built or pulled while this waits.
            SandboxError::ImageMissing { .. } | SandboxError::Engine { .. } => {
                Self::Passing(error.to_string())
            }
            error => Self::Final(Failure::Failed(error.to_string())),
        }
    }
}

impl From<CommandError> for Trouble {
    fn from(error: CommandError) -> Self {
        match Failure::from(error) {
            Failure::Unreachable(text) => Self::Passing(text),
            failure => Self::Final(failure),
        }
    }
}

impl From<JetStreamError> for Failure {
    fn from(error: JetStreamError) -> Self {
        match error {
            JetStreamError::Connect { .. } | JetStreamError::Unavailable { .. } => {
                Self::Unreachable(error.to_string())
            }
            JetStreamError::Refused { .. }
            | JetStreamError::NoStream { .. }
            | JetStreamError::BadPrefix { .. } => Self::Failed(error.to_string()),
        }
    }
}

impl From<MigrationError> for Failure {
    fn from(error: MigrationError) -> Self {
        match error {
            MigrationError::Unavailable { .. } => Self::Unreachable(error.to_string()),
            MigrationError::Behind { .. }
            | MigrationError::Newer { .. }
            | MigrationError::Changed { .. }
            | MigrationError::Failed { .. }
            | MigrationError::Reader { .. }
            | MigrationError::OtherCluster { .. }
            | MigrationError::File { .. } => Self::Failed(error.to_string()),
        }
    }
}
