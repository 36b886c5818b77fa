//! What can go wrong with the sandbox itself.

use bollard::errors::Error as EngineError;

use crate::RefusedRequest;

/// The sandbox could not do its part. What a program did is never one of these.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The request itself is wrong; asking again with the same one is in vain.
    #[error(transparent)]
    Refused(#[from] RefusedRequest),
    /// The engine does not answer.
    #[error(
        "Docker does not answer at {address} ({cause}). Start the engine, or set DOCKER_HOST to one that runs"
    )]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// What came back instead.
        cause: EngineError,
    },
    /// The engine has no such image.
    #[error(
        "the sandbox image {image} is not on the Docker engine at {address}. Build it with dev/sandbox/build-image, or \
         pull one and name it in OXAGEN_SANDBOX_IMAGE"
    )]
    ImageMissing {
        /// The image as configured.
        image: String,
        /// The engine that was asked.
        address: String,
    },
    /// The program could not be put into its container; it has not started.
    #[error(
        "the program could not be put into the sandbox: {detail}. The image {image} must have /bin/sh, dd and tar, and \
         the engine must have disk and memory left"
    )]
    Setup {
        /// The image as configured.
        image: String,
        /// What the container said.
        detail: String,
    },
    /// The engine refused something before the program started.
    #[error("Docker failed to {doing} ({cause}). Look into the engine's log")]
    Engine {
        /// What was to be done.
        doing: &'static str,
        /// What the engine answered.
        cause: EngineError,
    },
    /// The engine or the container went away while the program ran: how far it came is not known.
    #[error("the sandbox was lost while the program ran ({cause}). How far it came is not known")]
    Lost {
        /// What the engine answered.
        cause: EngineError,
    },
    /// A defect here.
    #[error(
        "the task that ran the program broke off: {0}. This is a defect of the runner; how far it came is not known"
    )]
    Broken(#[from] tokio::task::JoinError),
}

impl SandboxError {
    /// Whether the program may have run, at least in part. If not, asking again repeats nothing.
    pub fn may_have_run(&self) -> bool {
        match self {
            Self::Refused(_)
            | Self::Unreachable { .. }
            | Self::ImageMissing { .. }
            | Self::Setup { .. }
            | Self::Engine { .. } => false,
            Self::Lost { .. } | Self::Broken(_) => true,
        }
    }
}
