//! Which views an event feeds.

use oxagen_domain::{Event, Fact};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::source::Source;
use super::{
    NAME, agents, approvals, conversations, executions, keys, messages, plans, steps, timers, tool_calls,
    tools, workspaces,
};
use crate::store::StoreError;
use crate::table::{Rows, Table};

/// What a batch of facts changes, table by table.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Views {
    pub(crate) executions: Rows<executions::Execution>,
    pub(crate) steps: Rows<steps::ExecutionStep>,
    pub(crate) tool_calls: Rows<tool_calls::ToolCall>,
    pub(crate) timers: Rows<timers::Timer>,
    pub(crate) conversations: Rows<conversations::Conversation>,
    pub(crate) messages: messages::Messages,
    pub(crate) workspaces: Rows<workspaces::Workspace>,
    pub(crate) policies: Rows<workspaces::Policy>,
    pub(crate) tools: tools::Tools,
    pub(crate) agents: agents::Agents,
    pub(crate) approvals: Rows<approvals::ApprovalRequest>,
    pub(crate) plans: plans::Plans,
    pub(crate) keys: Rows<keys::ApiKey>,
}

/// Does something with the rows of every table.
macro_rules! each_table {
    ($views:expr, $rows:ident => $does:expr) => {
        $crate::postgres::views::each_table!(@ $views, $rows, $does,
            executions, steps, tool_calls, timers, conversations, messages.added, workspaces, policies, tools.tools,
            tools.versions, agents.agents, agents.versions, approvals, plans.plans, plans.steps, keys)
    };
    (@ $views:expr, $rows:ident, $does:expr, $($first:ident $(.$second:ident)?),+) => {$({
        let $rows = &mut $views.$first$(.$second)?;
        $does;
    })+};
}
pub(crate) use each_table;

impl Views {
    /// Folds facts. A fact of a type that this build does not know changes nothing.
    pub(crate) fn of(facts: &[Fact]) -> Result<Self, StoreError> {
        let mut views = Self::default();
        for fact in facts {
            views.take_in(fact)?;
        }
        views.messages.join();
        Ok(views)
    }

    /// Folds one more fact, later than those before.
    pub(crate) fn take_in(&mut self, fact: &Fact) -> Result<(), StoreError> {
        match fact.event() {
            Ok(Some(event)) => self.take_event(fact, &event),
            Ok(None) => Ok(()),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// The same for whoever has read its event already.
    pub(crate) fn take_event(&mut self, fact: &Fact, event: &Event) -> Result<(), StoreError> {
        let id = fact.aggregate_id.parse().map_err(|_| {
            refused(format!(
                "fact {} is of {} `{}`, which is no UUID",
                fact.seq, fact.aggregate_type, fact.aggregate_id
            ))
        })?;
        self.take(Source { fact, id }, event);
        Ok(())
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
            Event::Plan(event) => {
                self.plans.take(source, event);
                timers::take_plan(&mut self.timers, source, event);
                self.messages.plan(source, event);
            }
        }
    }

    /// Puts every block into its message, for when every fact has been taken in.
    pub(crate) fn settle(&mut self) {
        self.messages.settle();
    }

    /// Keeps the rows that belong to a part; [`Table::part_of`] says by what that is told.
    pub(crate) fn retain(&mut self, wanted: impl Fn(Uuid) -> bool) {
        self.messages.retain(&wanted);
        each_table!(self, rows => rows.retain(|key, row| wanted(Table::part_of(key, row))));
    }

    /// Writes them, table by table. `shadow` goes before the schemas' names; none for the live tables.
    pub(crate) async fn write(&self, connection: &mut PgConnection, shadow: &str) -> Result<(), sqlx::Error> {
        self.executions.write(connection, shadow).await?;
        self.steps.write(connection, shadow).await?;
        self.tool_calls.write(connection, shadow).await?;
        self.timers.write(connection, shadow).await?;
        self.conversations.write(connection, shadow).await?;
        self.messages.write(connection, shadow).await?;
        self.workspaces.write(connection, shadow).await?;
        self.policies.write(connection, shadow).await?;
        self.tools.write(connection, shadow).await?;
        self.agents.write(connection, shadow).await?;
        self.approvals.write(connection, shadow).await?;
        self.plans.plans.write(connection, shadow).await?;
        self.plans.steps.write(connection, shadow).await?;
        self.keys.write(connection, shadow).await
    }
}

fn refused(cause: String) -> StoreError {
    StoreError::Refused { store: NAME, cause }
}

#[cfg(test)]
mod tests;
