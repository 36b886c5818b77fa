//! The one catalogue. See `docs/add-a-capability.md` before adding to it.

use schemars::{Schema, schema_for};
use serde_json::Value;

use super::{
    Capability, CodeExecuteInput, CodeExecuteOutput, Effect, PlanCreateInput, PlanCreateOutput, Risk, Route,
    Surface, ToolListInput, ToolListOutput, code_execute,
};
use crate::role::Right;

/// Everything that the runtime can do.
pub const CATALOG: &[Capability] = &[
    Capability {
        name: "agent.turn.start",
        summary: "Sends a message to an agent and starts a turn.",
        category: "turn",
        effect: Effect::Write,
        right: Right::Act,
        route: route("POST", "/v1/turns"),
        ..API
    },
    Capability {
        name: "agent.turn.read",
        summary: "Reads a turn: its phase, its steps and what it used.",
        category: "turn",
        route: route("GET", "/v1/turns/{id}"),
        ..API
    },
    Capability {
        name: "agent.turn.cancel",
        summary: "Cancels a turn and everything that it started.",
        category: "turn",
        effect: Effect::Write,
        right: Right::Act,
        route: route("POST", "/v1/turns/{id}/cancel"),
        ..API
    },
    Capability {
        name: "agent.conversation.list",
        summary: "Lists the conversations of the workspace, newest first.",
        category: "conversation",
        route: route("GET", "/v1/conversations"),
        ..API
    },
    Capability {
        name: "agent.conversation.read",
        summary: "Reads a conversation with its messages and their blocks.",
        category: "conversation",
        route: route("GET", "/v1/conversations/{id}"),
        ..API
    },
    Capability {
        name: "agent.conversation.archive",
        summary: "Archives a conversation: it stays readable and takes no more messages.",
        category: "conversation",
        effect: Effect::Write,
        right: Right::Act,
        route: route("POST", "/v1/conversations/{id}/archive"),
        ..API
    },
    Capability {
        name: "agent.tool.list",
        summary: "Lists the tools that an agent can call in this workspace, with their risk and whether they ask for approval.",
        category: "tool",
        surfaces: &[Surface::Api, Surface::Agent],
        route: route("GET", "/v1/tools"),
        input: || schema_for!(ToolListInput),
        output: || schema_for!(ToolListOutput),
        ..API
    },
    Capability {
        name: "agent.code.execute",
        summary: "Runs a program in Node.js, Python or the shell inside a fresh sandbox and returns its exit code and output.",
        category: "code",
        surfaces: &[Surface::Api, Surface::Agent],
        effect: Effect::External,
        risk: Risk::High,
        asks_approval: true,
        right: Right::Act,
        route: None,
        input: || schema_for!(CodeExecuteInput),
        output: || schema_for!(CodeExecuteOutput),
        may_rerun: code_execute::may_rerun,
    },
    Capability {
        name: "agent.plan.create",
        summary: "Puts a plan to a person. Its approval grants exactly the calls in it that name a capability and its input; \
                  any other call is held.",
        category: "plan",
        surfaces: &[Surface::Agent],
        effect: Effect::Write,
        asks_approval: true,
        right: Right::Act,
        input: || schema_for!(PlanCreateInput),
        output: || schema_for!(PlanCreateOutput),
        ..API
    },
    Capability {
        name: "agent.plan.read",
        summary: "Reads a plan with its steps and how they stand.",
        category: "plan",
        route: route("GET", "/v1/plans/{id}"),
        ..API
    },
    Capability {
        name: "agent.plan.resolve",
        summary: "Approves, rejects or amends a plan.",
        category: "plan",
        effect: Effect::Write,
        right: Right::Decide,
        route: route("POST", "/v1/plans/{id}/resolve"),
        ..API
    },
    Capability {
        name: "agent.approval.list",
        summary: "Lists the approvals of the workspace, soonest expiry first.",
        category: "approval",
        route: route("GET", "/v1/approvals"),
        ..API
    },
    Capability {
        name: "agent.approval.resolve",
        summary: "Approves or denies a held call.",
        category: "approval",
        effect: Effect::Write,
        right: Right::Decide,
        route: route("POST", "/v1/approvals/{id}/resolve"),
        ..API
    },
    Capability {
        name: "agent.history.read",
        summary: "Pages through the facts of the workspace or follows them.",
        category: "history",
        route: route("GET", "/v1/events"),
        ..API
    },
    Capability {
        name: "agent.policy.read",
        summary: "Reads the workspace's policy and its version.",
        category: "policy",
        risk: Risk::High,
        route: route("GET", "/v1/policy"),
        ..API
    },
    Capability {
        name: "agent.policy.set",
        summary: "Sets the workspace's policy: tier, allowlist, rules, terms of approvals, kill switch.",
        category: "policy",
        effect: Effect::Write,
        risk: Risk::High,
        right: Right::Administer,
        route: route("PUT", "/v1/policy"),
        ..API
    },
];

/// What most entries share: read by HTTP, harmless, nobody is asked.
const API: Capability = Capability {
    name: "",
    summary: "",
    category: "",
    surfaces: &[Surface::Api],
    effect: Effect::Read,
    risk: Risk::Low,
    asks_approval: false,
    right: Right::Read,
    route: None,
    input: any_object,
    output: any_object,
    may_rerun: always,
};

const fn route(method: &'static str, path: &'static str) -> Option<Route> {
    Some(Route { method, path })
}

fn always(_: &Value) -> bool {
    true
}

/// For capabilities whose route's own types describe them in the OpenAPI document.
fn any_object() -> Schema {
    schemars::json_schema!({ "type": "object" })
}

/// The capability with this name.
pub fn find(name: &str) -> Option<&'static Capability> {
    CATALOG.iter().find(|capability| capability.name == name)
}

/// The tool that a model calls by this wire name.
pub fn find_by_wire_name(name: &str) -> Option<&'static Capability> {
    tools().find(|capability| capability.wire_name() == name)
}

/// What an agent can call.
pub fn tools() -> impl Iterator<Item = &'static Capability> {
    CATALOG.iter().filter(|capability| capability.is_tool())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_wire_names_fit() {
        let names: BTreeSet<_> = CATALOG.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), CATALOG.len());
        for tool in tools() {
            let wire = tool.wire_name();
            assert!(wire.len() <= 64 && wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
            assert_eq!(find_by_wire_name(&wire).map(|c| c.name), Some(tool.name));
        }
    }

    #[test]
    fn a_question_put_to_a_person_is_never_answered_by_an_agent() {
        assert!(CATALOG.iter().filter(|c| c.right == Right::Decide).all(|c| !c.is_tool()));
    }

    #[test]
    fn unless_read_only_a_capability_needs_more_than_the_right_to_read() {
        assert!(CATALOG.iter().all(|c| c.effect == Effect::Read || c.right != Right::Read));
    }
}
