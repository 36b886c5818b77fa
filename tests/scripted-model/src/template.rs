//! `{{lastUser}}`, `{{lastToolResult.stdout.lastLine | lastToolResult}}`: the first that says something.

use serde_json::Value;

use crate::conversation::Conversation;

/// Fills every `{{…}}` of a text.
pub(crate) fn fill(text: &str, conversation: Conversation<'_>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((expression, tail)) = after.split_once("}}") else { break };
        filled.push_str(before);
        let said = expression.split('|').map(|path| look_up(path.trim(), conversation));
        filled.push_str(&said.into_iter().find(|text| !text.is_empty()).unwrap_or_default());
        rest = tail;
    }
    filled + rest
}

/// Fills the texts inside a JSON value.
pub(crate) fn fill_json(value: &Value, conversation: Conversation<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, conversation)),
        Value::Array(items) => items.iter().map(|item| fill_json(item, conversation)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, item)| (key.clone(), fill_json(item, conversation))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Whether the text is JSON with this field at any depth.
pub(crate) fn has(text: &str, field: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| find(&value, field).is_some())
}

fn look_up(path: &str, conversation: Conversation<'_>) -> String {
    let (path, last_line) = path.strip_suffix(".lastLine").map_or((path, false), |path| (path, true));
    let (root, fields) = path.split_once('.').unwrap_or((path, ""));
    let source = match root {
        "lastUser" => conversation.last_user(),
        "lastToolResult" => conversation.last_tool_result().unwrap_or_default(),
        _ => String::new(),
    };
    let text = if fields.is_empty() { source } else { walk(&source, fields) };
    if last_line { text.trim_end().lines().next_back().unwrap_or_default().to_owned() } else { text }
}

fn walk(source: &str, fields: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(source) else { return String::new() };
    for field in fields.split('.') {
        let each: Option<Value> = value
            .as_array()
            .map(|items| items.iter().filter_map(|item| find(item, field)).cloned().collect());
        value = each.or_else(|| find(&value, field).cloned()).unwrap_or_default();
    }
    say(&value)
}

/// A field of this name, here or deeper.
fn find<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => {
            fields.get(field).or_else(|| fields.values().find_map(|inner| find(inner, field)))
        }
        Value::Array(items) => items.iter().find_map(|inner| find(inner, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn say(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(say).collect::<Vec<_>>().join(", "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_looked_into() {
        let result =
            json!({"status": "completed", "output": {"stdout": "1\n2\n832040\n", "exitCode": 0}}).to_string();
        let body =
            json!({"messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": result}]});
        let said = |text: &str| fill(text, Conversation::of(&body));
        assert_eq!(said("{{lastUser}}: {{lastToolResult.stdout.lastLine}}!"), "go: 832040!");
        assert_eq!(said("{{lastToolResult.note | lastToolResult.exitCode}}"), "0");
        assert_eq!(said("{{nothing}} {{open"), " {{open");
    }

    #[test]
    fn lists_are_joined() {
        let result = json!({"tools": [{"name": "a"}, {"name": "b"}]}).to_string();
        let body = json!({"messages": [{"role": "tool", "content": result}]});
        assert_eq!(fill("{{lastToolResult.tools.name}}", Conversation::of(&body)), "a, b");
    }
}
