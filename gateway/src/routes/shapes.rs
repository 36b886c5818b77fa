//! What answers look like, for the OpenAPI document. The values themselves are rows of the read models and receipts
//! of commands.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use oxagen_domain::plan::{PlanStatus, StepStatus};
use oxagen_domain::policy::{ApprovalTerms, PolicyDocument, StandingApproval};
use oxagen_domain::tool_call::SettledAs;
use oxagen_domain::turn::Usage;
use oxagen_domain::{Decision, Fact, KeyLimits, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use uuid::Uuid;

type Time = DateTime<Utc>;

/// A shape is a name and its members, with a `?` after the names of those that may be missing.
macro_rules! shapes {
    ($($(#[doc = $doc:literal])+ $shape:ident { $($field:literal: $type:ty),* $(,)? })+) => {$(
        $(#[doc = $doc])+
        pub(super) struct $shape;

        impl JsonSchema for $shape {
            fn schema_name() -> Cow<'static, str> {
                stringify!($shape).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut members = Members::default();
                $(members.add($field, generator.subschema_for::<$type>());)*
                members.schema(concat!($($doc),+).trim())
            }
        }
    )+};
}

#[derive(Default)]
struct Members {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Members {
    fn add(&mut self, field: &str, schema: Schema) {
        let name = field.trim_end_matches('?');
        self.properties.insert(name.to_owned(), schema.to_value());
        if name == field {
            self.required.push(name.to_owned());
        }
    }

    fn schema(self, about: &str) -> Schema {
        json_schema!({
            "type": "object", "description": about, "properties": self.properties, "required": self.required,
        })
    }
}

shapes! {
    /// A message on its way: the turn that answers it.
    TurnReceipt { "turnId": Uuid, "conversationId": Uuid, "messageId": Uuid }
    /// A turn.
    Turn {
        "turnId": Uuid, "conversationId": Uuid, "userMessageId": Uuid, "messageId": Uuid, "status": String,
        "agentId": Uuid, "agentVersionId": Uuid, "model?": String, "usage": Usage, "error?": Failure,
        "requestedAt": Time, "startedAt?": Time, "finishedAt?": Time, "sequence": u64, "steps": Vec<Step>,
        "toolCalls": Vec<CallSummary>,
    }
    /// A step of a turn.
    Step {
        "step": u32, "attempt": u32, "status": String, "model?": String, "finish?": String, "usage": Usage,
        "error?": Failure, "startedAt?": Time, "finishedAt?": Time,
    }
    /// A call of a turn, in short.
    CallSummary { "callId": Uuid, "capability": String, "status": String }
    /// Why something failed.
    Failure { "code": String, "message": String }
    /// A conversation in a list.
    ConversationItem {
        "conversationId": Uuid, "title": String, "archived": bool, "createdAt": Time, "updatedAt": Time,
    }
    /// A page of conversations.
    ConversationPage { "items": Vec<ConversationItem>, "nextCursor?": String }
    /// A conversation with a page of its messages.
    ConversationWhole {
        "conversationId": Uuid, "title": String, "archived": bool, "createdAt": Time, "updatedAt": Time,
        "messages": Vec<MessageItem>, "nextCursor?": String, "usage": Usage, "lastSeq": u64,
    }
    /// A message and its blocks.
    MessageItem {
        "messageId": Uuid, "parentMessageId?": Uuid, "role": String, "turnId": Uuid,
        "blocks": Vec<Map<String, Value>>, "createdAt": Time,
    }
    /// A tool call as it stands.
    ToolCall {
        "callId": Uuid, "conversationId?": Uuid, "messageId?": Uuid, "turnId?": Uuid, "executionId": Uuid,
        "executionStepId": Uuid, "capability": String, "toolVersionId": Uuid, "origin": String, "effect": String,
        "riskLevel": String, "status": String, "attempt": u32, "input": Value, "inputRef?": String,
        "inputDigest": String, "output?": Value, "outputRef?": String, "error?": Failure, "policyRule?": String,
        "requiredApproval": bool, "approvalId?": Uuid, "requestedBy": Uuid, "requestedAt": Time,
        "startedAt?": Time, "finishedAt?": Time, "latencyMs?": u64, "originalInput?": Value, "planId?": Uuid,
        "planStep?": String, "settledAs?": String, "settledBy?": Uuid, "sequence": u64,
    }
    /// A page of calls.
    ToolCallPage { "items": Vec<ToolCall>, "nextCursor?": String }
    /// A call that was settled.
    SettleReceipt {
        "callId": Uuid, "outcome": SettledAs, "settledBy": Uuid, "settledAt": Time, "status": String,
    }
    /// A plan as it stands.
    Plan {
        "planId": Uuid, "conversationId": Uuid, "turnId": Uuid, "callId": Uuid, "title": String, "rationale?": String,
        "version": u32, "status": PlanStatus, "steps": Vec<PlanStepItem>, "requestedBy": Uuid, "proposedAt": Time,
        "resolvedBy?": Uuid, "resolvedAt?": Time, "note?": String, "expiresAt?": Time, "needed": u32, "given": u32,
    }
    /// A page of plans.
    PlanPage { "items": Vec<Plan>, "nextCursor?": String }
    /// A step of a plan and how it stands.
    PlanStepItem {
        "id": String, "summary": String, "intent?": String, "capability?": String, "input?": Value,
        "dependsOn?": Vec<String>, "status": StepStatus, "callId?": Uuid,
    }
    /// How a plan stands after an answer.
    PlanReceipt {
        "planId": Uuid, "version": u32, "status": PlanStatus, "resolvedBy": Uuid, "given": u32, "needed": u32,
    }
    /// A call that goes on.
    CallReceipt { "callId": Uuid, "status": String, "approvalId?": Uuid }
    /// An approval as it stands.
    Approval {
        "approvalId": Uuid, "callId": Uuid, "executionStepId": Uuid, "conversationId?": Uuid, "turnId?": Uuid,
        "capability": String, "input": Value, "inputDigest": String, "risk": String, "policyRule": String,
        "status": String, "requestedBy": Uuid, "requestedAt": Time, "expiresAt": Time, "resolvedAt?": Time,
        "resolvedBy?": Uuid, "note?": String, "reason?": String, "needed": u32, "given": u32, "askedBefore": u32,
        "editedInput?": Value, "sequence": u64,
    }
    /// A page of approvals.
    ApprovalPage { "items": Vec<Approval>, "nextCursor?": String }
    /// An answer that counted.
    ApprovalReceipt {
        "approvalId": Uuid, "callId": Uuid, "decision": Decision, "resolvedBy": Uuid, "resolvedAt": Time,
        "note?": String, "status": String, "given": u32, "needed": u32, "standingApprovalId?": Uuid,
    }
    /// What came of each answer, in the order of the request: a receipt, or a refusal.
    ApprovalReceipts { "items": Vec<Map<String, Value>> }
    /// A policy and its version, which grows with every change.
    Policy { "version": u64, "policy": PolicyDocument }
    /// What would happen to a call, and why.
    Explanation {
        "version": u64, "decision": String, "rule": String, "reason?": String, "approval?": ApprovalTerms,
        "passed": Vec<String>,
    }
    /// The answers that stand.
    StandingApprovalPage { "items": Vec<StandingApproval>, "nextCursor?": String }
    /// A page of facts, ascending.
    FactPage { "items": Vec<Fact>, "nextCursor?": String }
    /// What a comparison of the stores with the journal found.
    Comparison {
        "equal": bool, "complete": bool, "head": u64, "after": u64, "until": u64, "tables": Vec<ComparedTable>,
        "differences": Vec<Difference>, "differing": u64, "unavailable": Vec<String>,
    }
    /// Rows of one table: what the journal says there must be, and what there is.
    ComparedTable { "store": String, "table": String, "tenantId": Uuid, "expected": Rows, "found": Rows }
    /// A number of rows, and a hash over all that is in them.
    Rows { "rows": u64, "hash": String }
    /// A row, or a fact, that is not as the journal says.
    Difference { "store": String, "table": String, "tenantId": Uuid, "id": String, "what": Map<String, Value> }
    /// An agent with its newest version.
    Agent {
        "agentId": Uuid, "name": String, "agentVersionId": Uuid, "number": u32, "instructions": String,
        "createdAt": Time, "publishedAt": Time,
    }
    /// The workspace's agents.
    AgentPage { "items": Vec<Agent>, "nextCursor?": String }
    /// A version that was published.
    AgentReceipt { "agentId": Uuid, "agentVersionId": Uuid, "number": u32 }
    /// An API key without its text.
    Key {
        "keyId": Uuid, "name": String, "userId": Uuid, "role": Role, "limits?": KeyLimits, "createdAt": Time,
        "revokedAt?": Time,
    }
    /// A page of keys.
    KeyPage { "items": Vec<Key>, "nextCursor?": String }
    /// A key with its text, which is shown this once.
    IssuedKey {
        "keyId": Uuid, "secret": String, "name": String, "role": Role, "limits?": KeyLimits, "userId": Uuid,
    }
    /// A body that is kept.
    ObjectReceipt { "digest": String, "bytes": u64 }
    /// Whom a key stands for.
    Me {
        "tenantId": Uuid, "workspaceId": Uuid, "userId": Uuid, "role": Role, "limits?": KeyLimits, "keyId?": Uuid,
        "rights": Vec<String>,
    }
}
