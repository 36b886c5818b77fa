//! Live frames: what a screen shows of a turn before it is a fact. They may be lost, never a fact's place.

mod frame;
mod publish;
mod read;

pub use frame::{Channel, Frame, FrameKind};
pub use publish::LivePublisher;
pub use read::{follow, recent};
