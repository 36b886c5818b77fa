//! Refuses what real providers refuse, so that a malformed conversation fails a test here and not in the field.

use std::collections::HashSet;

use serde_json::Value;

/// Says what is wrong with a request, in the way of the well-known providers.
pub(crate) fn check(body: &Value) -> Result<(), String> {
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err("you must provide a model parameter".to_owned());
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or("messages: expected an array with at least one message")?;
    check_tools(body["tools"].as_array().map(Vec::as_slice).unwrap_or_default())?;
    check_messages(messages)
}

fn check_tools(tools: &[Value]) -> Result<(), String> {
    let mut names = HashSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
            return Err(format!("tools[{at}].function.name {name:?} does not match ^[A-Za-z0-9_-]{{1,64}}$"));
        }
        if !names.insert(name) {
            return Err(format!("tools[{at}].function.name {name:?} is used twice"));
        }
        if tool["function"]["parameters"]["type"] != "object" {
            return Err(format!(
                "tools[{at}].function.parameters: schema must have type 'object' at its root"
            ));
        }
    }
    Ok(())
}

fn check_messages(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let place = open.iter().position(|wanted| *wanted == id);
            let place = place.ok_or_else(|| {
                format!("messages[{at}]: tool_call_id {id:?} answers no preceding tool call")
            })?;
            open.remove(place);
            continue;
        }
        if !open.is_empty() {
            return Err(format!(
                "messages[{at}]: these tool_call_ids have no tool message: {}",
                open.join(", ")
            ));
        }
        match role {
            "system" | "developer" | "user" => {}
            "assistant" => open = calls_of(at, message)?,
            other => return Err(format!("messages[{at}]: unknown role {other:?}")),
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("these tool_call_ids have no tool message: {}", open.join(", ")))
    }
}

fn calls_of(at: usize, message: &Value) -> Result<Vec<&str>, String> {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    if calls.is_empty() && !message["content"].is_string() && !message["content"].is_array() {
        return Err(format!("messages[{at}]: an assistant message needs content or tool_calls"));
    }
    let mut ids = Vec::new();
    for call in calls {
        let id = call["id"].as_str().filter(|id| !id.is_empty() && !ids.contains(id));
        ids.push(id.ok_or_else(|| format!("messages[{at}]: a tool call has no id of its own"))?);
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            return Err(format!("messages[{at}]: the arguments of a tool call are not a JSON object"));
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: &str) -> Value {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}]})
    }

    #[test]
    fn each_call_needs_one_result() {
        let of = |messages: Value| check(&json!({"model": "m", "messages": messages}));
        let user = json!({"role": "user", "content": "hi"});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
        assert_eq!(of(json!([user, call("a", "{}"), result])), Ok(()));
        assert!(of(json!([user, call("a", "{}"), user])).unwrap_err().contains("have no tool message: a"));
        assert!(of(json!([user, call("a", "{}")])).is_err());
        assert!(of(json!([user, result])).unwrap_err().contains("answers no preceding"));
        assert!(of(json!([user, call("a", "{\"x\":"), result])).unwrap_err().contains("not a JSON object"));
        assert!(of(json!([])).is_err());
    }

    #[test]
    fn tool_names_are_plain_and_unique() {
        let tool = |name: &str| json!({"function": {"name": name, "parameters": {"type": "object"}}});
        let of = |tools: Value| check(&json!({"model": "m", "messages": [{"role": "user"}], "tools": tools}));
        assert_eq!(of(json!([tool("a_b")])), Ok(()));
        assert!(of(json!([tool("a.b")])).is_err());
        assert!(of(json!([tool("a"), tool("a")])).is_err());
    }
}
