//! Runs code that an agent wrote, away from everything else.
//!
//! One call of [`SandboxDriver::run`] is one program in one fresh container that nobody used before and nobody uses
//! after. Whatever the program does (loops, floods, forks, eats memory), the call ends with a [`RunOutcome`] that
//! says what happened; a [`SandboxError`] means that the sandbox itself could not do its part.
//!
//! [`DockerSandbox`] is the driver that speaks to a Docker engine. `docs/sandbox.md` tells what a run gets.

mod archive;
mod config;
mod docker;
mod driver;
mod error;
mod images;
mod outcome;
mod request;
mod text;
mod transcript;

pub use config::SandboxConfig;
pub use docker::{DockerSandbox, INSTALLATION_LABEL, POOL_LABEL, RUNNER_LABEL};
pub use driver::{LivenessCheck, SandboxDriver};
pub use error::SandboxError;
pub use images::Language;
pub use outcome::{Channel, Chunk, EffectiveLimits, RunOutcome};
pub use request::{InputFile, MAX_FILES, MAX_FILES_BYTES, Network, RefusedRequest, RunRequest};
pub use transcript::OUTPUT_CAP;
