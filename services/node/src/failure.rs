//! How a command ends when it does not succeed: what people read, and the exit code that programs read.

use std::io;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::client::Problem;
use crate::config::ConfigError;

/// The exit codes, for `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    it was done
  1    it was refused, or it failed
  2    wrong usage, or wrong configuration
  3    a server that is needed cannot be reached
  4    there is no such thing in this workspace
  5    the key opens nothing, or may not do this
  130  stopped with Ctrl-C";

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The arguments.
    #[error("{0}")]
    Usage(String),
    /// A server does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// The gateway said no.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
    /// A person stopped it.
    #[error("stopped")]
    Interrupted,
    /// Whoever read the output has enough.
    #[error("nobody reads the output any more")]
    Closed,
}

impl Failure {
    /// The number of the exit code.
    fn number(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
            Self::NotFound(_) => 4,
            Self::Refused(problem) => match problem.status {
                401 | 403 => 5,
                404 => 4,
                _ => 1,
            },
            Self::Failed(_) => 1,
            Self::Interrupted => 130,
            Self::Closed => 0,
        }
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> ExitCode {
        self.number().into()
    }

    /// What is printed on stderr; nothing when there is nobody to tell.
    pub(crate) fn text(&self, as_json: bool) -> Option<String> {
        match self {
            Self::Closed => None,
            Self::Interrupted if !as_json => None,
            Self::Refused(problem) if as_json => Some(problem.json().to_string()),
            _ if as_json => {
                let error =
                    json!({"title": self.title(), "detail": self.to_string(), "exitCode": self.number()});
                Some(Value::to_string(&error))
            }
            _ => Some(format!("oxagen: {self}")),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Config(_) => "The configuration is wrong",
            Self::Usage(_) => "The arguments are wrong",
            Self::Unreachable(_) => "A server does not answer",
            Self::Refused(_) => "The gateway refused it",
            Self::NotFound(_) => "There is no such thing",
            Self::Failed(_) => "It failed",
            Self::Interrupted | Self::Closed => "It was stopped",
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Failed(format!("the output cannot be written: {error}"))
    }
}
