//! One file per intention.

mod advance_turn;
mod authenticate;
mod cancel;
mod create_workspace;
mod edit_conversation;
mod expire_approval;
mod expire_plan;
mod finish_turn;
mod keys;
mod policy;
mod publish_agent;
mod react;
mod request_call;
mod resolve_approval;
mod resolve_plan;
mod run_call;
mod settle_call;
mod start_turn;

pub use advance_turn::{AdvanceTurn, Claim, StepAnswer};
pub use create_workspace::{NewWorkspace, WorkspaceReceipt};
pub use keys::{IssuedKey, NewKey};
pub use policy::{Explained, PolicyInForce, WhatIf};
pub use publish_agent::{AgentReceipt, NewAgent};
pub use request_call::{CallReceipt, RequestCall};
pub use resolve_approval::{Answer, ApprovalReceipt, Remember};
pub use resolve_plan::{PlanDecision, PlanReceipt, ResolvePlan};
pub use run_call::{CallEnd, CallStart, StartedCall};
pub use settle_call::{Settle, SettleReceipt};
pub use start_turn::{StartTurn, TurnReceipt};
