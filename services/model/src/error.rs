//! What can go wrong with a request, in words a person and a program can use.

use std::time::Duration;

/// A request that gave no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure, for programs.
    pub code: ErrorCode,
    /// What was wrong, where, and what to do; free of secrets.
    pub message: String,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// What had arrived by then. It is incomplete and is never an answer.
    pub partial: Partial,
}

/// The closed list of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// No connection to the provider.
    Unreachable,
    /// The provider was silent, or took longer than the whole request may.
    Timeout,
    /// Too many requests or tokens.
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The key was refused.
    Unauthorized,
    /// The provider refuses this request and will again.
    BadRequest,
    /// The provider failed, before or in the middle of its answer.
    Provider,
    /// The connection ended before the answer did.
    StreamCut,
    /// What arrived cannot be understood without guessing.
    Malformed,
    /// The answer is larger than [`crate::OUTPUT_LIMIT`].
    TooLarge,
    /// We called it off.
    Cancelled,
}

impl ErrorCode {
    /// The stable word for facts, metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unauthorized => "unauthorized",
            Self::BadRequest => "bad_request",
            Self::Provider => "provider_error",
            Self::StreamCut => "stream_cut",
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether failures of this kind usually pass by themselves.
    fn passes(self) -> bool {
        match self {
            Self::Unreachable | Self::Timeout | Self::RateLimited { .. } | Self::Provider => true,
            // A model asked again rarely makes the same mess twice.
            Self::StreamCut | Self::Malformed => true,
            Self::Unauthorized | Self::BadRequest | Self::TooLarge | Self::Cancelled => false,
        }
    }
}

/// What had arrived when a request failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// The visible answer so far.
    pub text: String,
    /// The reasoning so far.
    pub reasoning: String,
}

impl ModelError {
    /// A failure of this kind; it is retryable when its kind usually passes by itself.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let retryable = code.passes();
        Self { code, message: message.into(), status: None, retryable, partial: Partial::default() }
    }

    /// The same with the HTTP status it came with.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same, not worth repeating.
    pub(crate) fn permanent(self) -> Self {
        Self { retryable: false, ..self }
    }
}
