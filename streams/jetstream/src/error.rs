//! What can go wrong between this program and NATS.

use std::error::Error;

/// The client library's own error.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why NATS could not be used.
#[derive(Debug, thiserror::Error)]
pub enum JetStreamError {
    /// No server answered.
    #[error("cannot connect to NATS at {urls}: {cause}. Is the server up, and is this the right address?")]
    Connect {
        /// Where it looked; credentials are left out.
        urls: String,
        /// What the client said.
        cause: Cause,
    },
    /// The server did not answer in time, or the connection broke. Trying again later may help.
    #[error("NATS did not answer ({doing}): {cause}. It is tried again when the connection is back")]
    Unavailable {
        /// What was being done.
        doing: String,
        /// What the client said.
        cause: Cause,
    },
    /// The server answered that it will not do it. Trying again will not help.
    #[error(
        "NATS refused ({doing}): {cause}. Compare the stream on the server with the topology of this build"
    )]
    Refused {
        /// What was being done.
        doing: String,
        /// What the server said.
        cause: Cause,
    },
    /// The stream is not there: never made, or lost.
    #[error("the stream {stream} is not on the NATS server; the relay makes it from the journal's head")]
    NoStream {
        /// The stream's name.
        stream: String,
    },
    /// A prefix that cannot be part of a stream's name.
    #[error("the prefix `{prefix}` may hold only letters, digits, `_` and `-`")]
    BadPrefix {
        /// The prefix given.
        prefix: String,
    },
}

impl JetStreamError {
    pub(crate) fn unavailable(doing: impl Into<String>, cause: impl Into<Cause>) -> Self {
        Self::Unavailable { doing: doing.into(), cause: cause.into() }
    }

    pub(crate) fn refused(doing: impl Into<String>, cause: impl Into<Cause>) -> Self {
        Self::Refused { doing: doing.into(), cause: cause.into() }
    }
}
