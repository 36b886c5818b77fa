//! What the scripted model says. Each test has a word of its own, so that tests do not disturb each other.

use oxagen_scripted_model::{Call, Match, Reply, Scenario};
use serde_json::{Value, json};
use uuid::Uuid;

/// A word that no other test uses: put it into the message and into the scenario.
pub fn word(about: &str) -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("{about}-{}", &id[20..])
}

/// Answers to the messages with this word, step by step.
pub fn scenario(word: &str, replies: Vec<Reply>) -> Scenario {
    let r#match = Match { user_contains: Some(word.into()), ..Match::default() };
    Scenario { name: Some(word.to_owned()), r#match, replies, reply: None }
}

/// Says this and asks for these calls.
pub fn reply(text: &str, calls: Vec<Call>) -> Reply {
    Reply { calls, ..Reply::text(text) }
}

/// A call of a tool.
pub fn call(name: &str, arguments: Value) -> Call {
    Call { name: name.to_owned(), arguments, id: None }
}

/// Python that prints `begun`, waits until somebody lets it go ([`Containers::let_go`](crate::Containers::let_go)), and
/// prints `done`: whatever is to happen in its middle does, however slow or fast the machine is.
pub fn waits() -> String {
    let wait = "while not os.path.exists('/tmp/go'): time.sleep(0.02)";
    format!("import os, time\nprint('begun', flush=True)\n{wait}\nprint('done', flush=True)")
}

/// A call that [waits], for half a minute at most.
pub fn waiting() -> Call {
    call("agent_code_execute", json!({"language": "python", "code": waits(), "timeoutMs": 30_000}))
}

/// A call that runs this Python.
pub fn code(python: &str) -> Call {
    call("agent_code_execute", json!({"language": "python", "code": python}))
}
