//! Talks to any OpenAI-compatible `/chat/completions` and makes one well-formed answer out of what it streams.
//!
//! Providers agree on the address and little else: pieces of a tool call arrive without an index, errors
//! arrive after status 200, streams end without saying so. This crate is where all of that stops. What
//! leaves it is either a whole [`Completion`] or a typed [`ModelError`] with the partial text.
//!
//! The bytes come from `reqwest` and are cut into events by our own `sse` decoder, because the client
//! libraries we tried hide what has to be known here: `[DONE]` and a cut connection look the same to their
//! caller, a non-JSON 4xx loses its status and every error its `Retry-After`, requests are repeated out of
//! sight, an endless line is buffered without limit, and a byte order mark makes the parser panic.

mod assemble;
mod client;
mod completion;
mod error;
mod failure;
mod request;
mod settings;
mod sse;
mod wire;

pub use client::ModelClient;
pub use completion::{Arguments, Call, Completion, Delta, Finish, Usage};
pub use error::{ErrorCode, ModelError, Partial};
pub use request::{AssistantCall, Message, Request, ToolSpec};
pub use settings::{ApiKey, MaxTokensField, ModelSettings, ReasoningEcho};

/// Bytes of text, reasoning and arguments together that one answer may have.
pub const OUTPUT_LIMIT: usize = 1024 * 1024;
