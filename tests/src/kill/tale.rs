//! Conversations that are told again and again: what the model says in them, and what a person does.

use oxagen_scripted_model::{Reply, Scenario};
use serde_json::{Value, json};

use crate::script::{call, reply, scenario};

/// What the code prints when nobody has edited it.
const CODE: &str = "print('begun', flush=True)\nimport time\ntime.sleep(0.3)\nprint('done', flush=True)";
/// What a person lets run in its place.
pub(super) const EDITED: &str = "print('begun', flush=True)\nprint('edited', flush=True)";

/// A conversation: three steps, one that looks at the tools, one that runs code, an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tale {
    /// The code waits for a person's word. It touches nothing outside its container, and may run again.
    Code,
    /// The code may reach the network, and may not run again.
    Network,
    /// A person lets other code run in its place.
    Edited,
    /// The code is part of a plan, which waits for a person's word.
    Planned,
}

impl Tale {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Code, Self::Network, Self::Edited, Self::Planned];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Network => "network",
            Self::Edited => "edited",
            Self::Planned => "planned",
        }
    }

    /// How its calls end, in the order in which they were asked for; the second may have been cut off in its effect.
    pub(super) fn statuses(self, cut: bool) -> &'static [&'static str] {
        match self {
            Self::Network if cut => &["completed", "in_doubt"],
            Self::Code | Self::Network | Self::Edited => &["completed", "completed"],
            Self::Planned => &["completed", "completed", "completed"],
        }
    }

    /// The message with which a person begins it.
    pub(super) fn message(self, word: &str) -> Value {
        match self {
            Self::Code | Self::Network | Self::Edited => json!({"text": word}),
            Self::Planned => json!({"text": word, "mode": "plan"}),
        }
    }

    /// What the person answers when the agent asks.
    pub(super) fn answer(self) -> Value {
        match self {
            Self::Code | Self::Network | Self::Planned => json!({"decision": "approve"}),
            Self::Edited => {
                json!({"decision": "approve", "editedInput": {"language": "python", "code": EDITED}})
            }
        }
    }

    /// What the model says to this word.
    pub(super) fn script(self, word: &str) -> Scenario {
        let network = if self == Self::Network { "allow" } else { "deny" };
        let arguments = json!({"language": "python", "code": CODE, "network": network});
        let mut replies = vec![
            reply("I look at what I have got before I begin.", vec![call("agent_tool_list", json!({}))]),
            reply("Now I will run it.", vec![call("agent_code_execute", arguments.clone())]),
            reply("This is what came of it, as far as I was told.", vec![]),
        ];
        if self == Self::Planned {
            let step = json!({"id": "only", "summary": "Run it.", "capability": "agent.code.execute",
                              "input": arguments});
            let plan = call("agent_plan_create", json!({"title": "One program", "steps": [step]}));
            replies.insert(1, reply("This is what I mean to do.", vec![plan]));
        }
        // Counted by itself it would depend on how many digits the tool's time has.
        let usage = Some(json!({"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}));
        let replies = replies.into_iter().map(|reply| Reply { usage: usage.clone(), ..reply });
        scenario(word, replies.collect())
    }
}
