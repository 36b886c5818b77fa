//! One model call: what it is told, what it answers, and the commit of both outcomes.

use std::sync::{Arc, LazyLock};

use fail::fail_point;
use oxagen_commands::{AdvanceTurn, AskedCall, CommandError, PlannedCall, StepAnswer};
use oxagen_domain::CallId;
use oxagen_domain::capability::{Capability, catalog};
use oxagen_domain::tool_call::Place;
use oxagen_domain::turn::{StepFailure, StepResult, TurnSpec, Usage};
use oxagen_model::{Arguments, Completion, ErrorCode, Message, ModelError, Request, ToolSpec};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use crate::Shared;
use crate::history::History;
use crate::live::{Deltas, Frames};

/// An attempt of a step.
pub(crate) struct Asked<'a> {
    pub(crate) spec: &'a TurnSpec,
    /// From 1.
    pub(crate) step: u32,
    /// From 1.
    pub(crate) attempt: u32,
    /// The turn's version with the attempt's beginning, if that is committed already.
    pub(crate) begun: Option<u64>,
}

impl Shared {
    /// Asks the model and commits what came of it; gives the calls that it asked for.
    pub(crate) async fn ask_model(
        self: &Arc<Self>,
        to: &AdvanceTurn,
        Asked { spec, step, attempt, begun }: Asked<'_>,
        history: &mut History,
        stop: &CancellationToken,
    ) -> Result<Vec<PlannedCall>, CommandError> {
        let commands = &self.options.commands;
        let version = match begun {
            Some(version) => version,
            None => commands.start_step(to, step, attempt).await?,
        };
        let request = self.request(to, spec, history).await?;
        let mut deltas = Deltas::new(Frames {
            live: self.live.clone(),
            scope: to.context.scope(),
            conversation: spec.conversation_id,
            turn: to.turn,
            version,
            step,
            attempt,
        });
        let span = info_span!("chat", step, attempt, model = %request.model);
        let asking = self.options.model.complete(&request, |delta| deltas.send(delta), stop).instrument(span);
        // While the model thinks: its answer may end the turn, and with it the conversation's.
        let (asked, ()) = futures::join!(asking, commands.foresee_end(to, spec));
        match asked {
            Ok(completion) => {
                fail_point!("runner.answered", |_| std::process::abort());
                commands.complete_step(to, answer(spec, step, completion, &request.model)).await
            }
            Err(error) if error.code == ErrorCode::Cancelled => Ok(vec![]),
            Err(error) => commands.fail_step(to, failure(error)).await.map(|()| vec![]),
        }
    }

    async fn request(
        &self,
        to: &AdvanceTurn,
        spec: &TurnSpec,
        history: &mut History,
    ) -> Result<Request, CommandError> {
        let instructions = self.options.commands.instructions(spec.agent_id, spec.agent_version_id).await?;
        let mut messages: Vec<_> = instructions.map(|text| Message::System { text }).into_iter().collect();
        messages.extend(self.messages(&to.context, spec, history).await?);
        Ok(Request {
            model: spec.model.clone().unwrap_or_else(|| self.options.default_model.clone()),
            messages,
            tools: TOOLS.clone(),
            max_tokens: None,
        })
    }
}

/// The catalogue's tools as a model is told of them, made once.
static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| catalog::tools().map(tool).collect());

fn tool(capability: &Capability) -> ToolSpec {
    ToolSpec {
        name: capability.wire_name(),
        description: capability.summary.to_owned(),
        parameters: (capability.input)().to_value(),
    }
}

fn answer(spec: &TurnSpec, step: u32, completion: Completion, model: &str) -> StepAnswer {
    let calls = completion.calls.into_iter().enumerate().map(|(index, call)| {
        let asked = AskedCall {
            call_id: CallId::of_step(spec.turn_id, step, index),
            name: catalog::find_by_wire_name(&call.name).map_or(call.name, |tool| tool.name.to_owned()),
            input: match call.arguments {
                Arguments::Object(object) => Ok(Value::Object(object)),
                Arguments::Invalid { raw, reason } => Err((raw, reason)),
            },
            place: Some(Place {
                conversation_id: spec.conversation_id,
                turn_id: spec.turn_id,
                message_id: spec.assistant_message_id,
                step,
                provider_call_id: call.id.clone(),
            }),
        };
        (asked, call.id)
    });
    StepAnswer {
        calls: calls.collect(),
        result: StepResult {
            text: completion.text,
            reasoning: completion.reasoning,
            calls: vec![],
            finish: completion.finish.as_str().to_owned(),
            model: completion.model.unwrap_or_else(|| model.to_owned()),
            usage: Usage {
                input_tokens: completion.usage.input_tokens,
                output_tokens: completion.usage.output_tokens,
            },
        },
    }
}

fn failure(error: ModelError) -> StepFailure {
    StepFailure {
        code: format!("model_{}", error.code.as_str()),
        message: error.message,
        retryable: error.retryable,
        text: error.partial.text,
        reasoning: error.partial.reasoning,
    }
}
