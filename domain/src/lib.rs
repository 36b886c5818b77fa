//! The rules of the Oxagen Agent Runtime: what may happen, and what has happened.
//!
//! Everything here is pure. Decisions take state by reference and a command that already carries the
//! clock's and the random generator's answers; nothing reads a clock, draws a random number or does I/O.

#![warn(clippy::wildcard_enum_match_arm)]

mod agent;
mod aggregate;
mod api_key;
mod approval;
mod body;
pub mod capability;
mod conversation;
mod event;
mod fact;
mod ids;
mod key_limits;
mod metadata;
pub mod plan;
pub mod policy;
pub mod reaction;
mod role;
pub mod tool_call;
pub mod transcript;
pub mod turn;
pub mod upcast;
mod workspace;

pub use agent::{Agent, AgentCommand, AgentEvent, AgentRefusal, AgentVersion};
pub use aggregate::{Entity, EventKind};
pub use api_key::{ApiKey, ApiKeyCommand, ApiKeyEvent, ApiKeyRefusal, KeyRecord};
pub use approval::{
    Approval, ApprovalCommand, ApprovalEvent, ApprovalQuestion, ApprovalRefusal, Decision, GivenAnswer,
    PersonsAnswer, Resolution,
};
pub use body::{Body, Digest, INLINE_LIMIT, PREVIEW_LIMIT};
pub use conversation::{
    Conversation, ConversationCommand, ConversationEvent, ConversationRefusal, Message, OnBusy,
};
pub use event::Event;
pub use fact::{Fact, Undecodable};
pub use ids::*;
pub use key_limits::KeyLimits;
pub use metadata::{Actor, ActorKind, BadMetadata, Metadata, Scope};
pub use role::{Right, Role};
pub use workspace::{PublishedTool, Workspace, WorkspaceCommand, WorkspaceEvent, WorkspaceRefusal};
