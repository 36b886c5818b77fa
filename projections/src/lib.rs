//! The read models: made from facts by projectors, one per store, and asked through [`Queries`].
//!
//! A [`Projector`] follows the facts from its own cursor and gives them to its [`Store`] in batches. Each store bears
//! every repeat, so that a call has one row, one analytic row and one edge whatever was delivered how often.

mod cell;
mod clickhouse;
mod cursor;
mod error;
#[cfg(test)]
mod given;
mod host;
mod kinds;
mod neo4j;
mod page;
mod pages;
mod pool;
mod postgres;
mod queries;
pub mod rebuild;
mod store;
mod table;
pub mod verify;
mod word;

pub use clickhouse::{ClickHouse, ClickHouseOptions};
pub use error::QueryError;
pub use host::{Handle, Projector, ProjectorOptions, Status, apply_again};
pub use neo4j::{Neo4j, Neo4jOptions};
pub use page::{Page, Paged};
pub use postgres::Postgres;
pub use queries::{
    AgentRow, ApprovalRow, CallSummary, ConversationRow, ConversationView, Due, DueTimer, ExecutionKind,
    KeyRow, MessageView, PlanRow, PlanStepRow, Queries, RunningCall, StaleExecution, StepView, ToolCallRow,
    TurnView, WorkspaceRow,
};
pub use store::{Batch, Store, StoreError};
