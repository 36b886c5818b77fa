//! A person or program calls a capability outside a turn, through the same gate and ledger as an agent does.

use chrono::Utc;
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::Mode;
use oxagen_domain::tool_call::{CallStatus, Standing, ToolCall};
use oxagen_domain::{ApprovalId, CallId, Digest, Right};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::calls::{AskedCall, Asker, Bodies};
use crate::{Caller, Code, CommandError, Commands};

/// What is called.
#[derive(Clone, Debug)]
pub struct RequestCall {
    /// The capability's name.
    pub capability: String,
    /// The arguments.
    pub input: Value,
    /// The same key gives the same call.
    pub idempotency_key: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReceipt {
    /// The call.
    pub call_id: CallId,
    /// Where it stands: `cleared`, `held`, `started`, or how it ended.
    pub status: &'static str,
    /// The approval that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
}

impl Commands {
    /// Requests a call outside a turn. It runs when it is cleared, at once or after an approval.
    ///
    /// # Errors
    /// [`Code::UnknownCapability`], [`Code::InvalidInput`] with every flaw, [`Code::DeniedByPolicy`] (the denial is
    /// in the ledger all the same), [`Code::IdempotencyKeyReused`], [`Code::Forbidden`], [`Code::Unavailable`].
    pub async fn request_call(
        &self,
        caller: &Caller,
        request: RequestCall,
    ) -> Result<CallReceipt, CommandError> {
        caller.must(Right::Read)?;
        let tool = catalog::find(&request.capability).filter(|tool| tool.is_tool()).ok_or_else(|| {
            let text = format!("there is no tool `{}`: GET /v1/tools lists them", request.capability);
            CommandError::new(Code::UnknownCapability, text)
        })?;
        oxagen_domain::capability::validate(tool, &request.input).map_err(CommandError::invalid)?;
        let key = request.idempotency_key.as_deref();
        let call_id = CallId(key.map_or_else(Uuid::now_v7, |key| {
            oxagen_domain::derive(caller.scope.workspace.0, &format!("calls/{key}"))
        }));
        let asker = Asker {
            user: caller.user,
            role: caller.role,
            limits: caller.limits.clone(),
            mode: Mode::Act,
            surface: Surface::Api,
            at: Utc::now(),
        };
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            unit.expect_new::<ToolCall>(&call_id.to_string());
            let known = unit.load::<ToolCall>(&call_id.to_string()).await?.state;
            if known.spec.is_some() {
                return repeated(&known, call_id, &request);
            }
            let policy = unit.workspace_policy().await?;
            let name = request.capability.clone();
            let asked = AskedCall { call_id, name, input: Ok(request.input.clone()), place: None };
            let mut bodies = Bodies::new();
            let planned = unit.ask(asked, &asker, &policy.state, &mut bodies).await?;
            self.store(caller.scope.tenant, &bodies).await?;
            if unit.commit(&mut rounds).await?.is_none() {
                continue;
            }
            return match planned.refused {
                Some(refusal) => Err(CommandError {
                    detail: Some(serde_json::json!({ "callId": call_id, "rule": refusal.rule })),
                    ..CommandError::new(Code::DeniedByPolicy, refusal.message)
                }),
                None => {
                    let status = if planned.cleared { "cleared" } else { "held" };
                    Ok(CallReceipt { call_id, status, approval_id: planned.approval })
                }
            };
        }
    }

    pub(crate) async fn store(
        &self,
        tenant: oxagen_domain::TenantId,
        bodies: &Bodies,
    ) -> Result<(), CommandError> {
        for (digest, bytes) in bodies {
            self.journal().put_object(tenant, digest, bytes).await?;
        }
        Ok(())
    }
}

fn repeated(known: &ToolCall, call_id: CallId, request: &RequestCall) -> Result<CallReceipt, CommandError> {
    let same = known.spec.as_ref().is_some_and(|spec| {
        spec.capability == request.capability && spec.input_digest == Digest::of_canonical(&request.input)
    });
    if !same {
        let text = "this Idempotency-Key was used for another call: use a new key for a new call";
        return Err(CommandError::new(Code::IdempotencyKeyReused, text));
    }
    let (status, approval_id) = match known.standing {
        Standing::Held(approval) => ("held", Some(approval)),
        Standing::Absent | Standing::Cleared => ("cleared", None),
        Standing::Started(_) => ("started", None),
        Standing::Ended(CallStatus::Denied) if known.approval.is_none() => {
            let text = format!("this call was denied by the rule `{}`", known.rule);
            return Err(CommandError::new(Code::DeniedByPolicy, text));
        }
        Standing::Ended(status) => (status.name(), None),
    };
    Ok(CallReceipt { call_id, status, approval_id })
}
