//! Which views an event feeds.

use oxagen_domain::{Event, Fact};
use sqlx::postgres::PgConnection;

use super::source::Source;
use super::{
    NAME, agents, approvals, conversations, executions, keys, messages, steps, timers, tool_calls, tools,
    workspaces,
};
use crate::store::StoreError;
use crate::table::Rows;

/// What a batch of facts changes, table by table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Views {
    pub(super) executions: Rows<executions::Execution>,
    pub(super) steps: Rows<steps::ExecutionStep>,
    pub(super) tool_calls: Rows<tool_calls::ToolCall>,
    pub(super) timers: Rows<timers::Timer>,
    pub(super) conversations: Rows<conversations::Conversation>,
    pub(super) messages: messages::Messages,
    pub(super) workspaces: Rows<workspaces::Workspace>,
    pub(super) policies: Rows<workspaces::Policy>,
    pub(super) tools: tools::Tools,
    pub(super) agents: agents::Agents,
    pub(super) approvals: Rows<approvals::ApprovalRequest>,
    pub(super) keys: Rows<keys::ApiKey>,
}

impl Views {
    /// Folds facts. A fact of a type that this build does not know changes nothing.
    pub(super) fn of(facts: &[Fact]) -> Result<Self, StoreError> {
        let mut views = Self::default();
        for fact in facts {
            let refused = |cause: String| StoreError::Refused { store: NAME, cause };
            if let Some(event) = fact.event().map_err(|error| refused(error.to_string()))? {
                let id = fact.aggregate_id.parse().map_err(|_| {
                    refused(format!(
                        "fact {} is of {} `{}`, which is no UUID",
                        fact.seq, fact.aggregate_type, fact.aggregate_id
                    ))
                })?;
                views.take(Source { fact, id }, &event);
            }
        }
        Ok(views)
    }

    fn take(&mut self, source: Source<'_>, event: &Event) {
        match event {
            Event::Workspace(event) => {
                workspaces::workspace(&mut self.workspaces, source, event);
                self.tools.take(source, event);
            }
            Event::Policy(event) => workspaces::policy(&mut self.policies, source, event),
            Event::ApiKey(event) => keys::take(&mut self.keys, source, event),
            Event::Agent(event) => self.agents.take(source, event),
            Event::Conversation(event) => {
                conversations::take(&mut self.conversations, source, event);
                self.messages.conversation(source, event);
            }
            Event::Turn(event) => {
                executions::turn(&mut self.executions, source, event);
                steps::turn(&mut self.steps, source, event);
                self.messages.turn(source, event);
            }
            Event::ToolCall(event) => {
                tool_calls::take(&mut self.tool_calls, source, event);
                executions::call(&mut self.executions, source, event);
                steps::call(&mut self.steps, source, event);
                self.messages.call(source, event);
            }
            Event::Approval(event) => {
                approvals::take(&mut self.approvals, source, event);
                timers::take(&mut self.timers, source, event);
                self.messages.approval(source, event);
            }
        }
    }

    /// Writes them, table by table.
    pub(super) async fn write(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        self.executions.write(connection).await?;
        self.steps.write(connection).await?;
        self.tool_calls.write(connection).await?;
        self.timers.write(connection).await?;
        self.conversations.write(connection).await?;
        self.messages.write(connection).await?;
        self.workspaces.write(connection).await?;
        self.policies.write(connection).await?;
        self.tools.write(connection).await?;
        self.agents.write(connection).await?;
        self.approvals.write(connection).await?;
        self.keys.write(connection).await
    }
}

#[cfg(test)]
mod tests;
