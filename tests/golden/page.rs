//! A page for each capability, made from its declaration and its HTTP operation.

use oxagen_domain::capability::{Capability, Surface, catalog::CATALOG};
use serde_json::Value;

use super::table::{door, effect, right, risk};

const MADE: &str = "<!-- Made by `cargo xtask golden --write` from the catalogue; change that. -->\n";

/// The page's file name and text.
pub(crate) fn of(capability: &Capability, openapi: &Value) -> (String, String) {
    let mut text = format!("# `{}`\n\n{MADE}\n{}\n\n", capability.name, capability.summary);
    text += "| | |\n|---|---|\n";
    text += &format!("| HTTP | `{}` |\n", door(capability));
    if capability.is_on(Surface::Agent) {
        text += &format!("| tool name for a model | `{}` |\n", capability.wire_name());
    }
    text += &format!("| effect | {} |\n| risk | {} |\n", effect(capability.effect), risk(capability.risk));
    let asks = if capability.asks_approval { "a person, each time" } else { "nobody" };
    text += &format!("| asks first | {asks} |\n| right | {} |\n", right(capability.right));
    match capability.route.and_then(|route| operation(openapi, route.method, route.path)) {
        Some(operation) => text += &http(operation, openapi),
        None => {
            text += &schema("Input", &(capability.input)().to_value());
            text += &schema("Output", &(capability.output)().to_value());
        }
    }
    if capability.route.is_some() && capability.is_on(Surface::Agent) {
        text += "\nA model calls it with the input below; `POST /v1/tool-calls` takes the same.\n";
        text += &schema("Input", &(capability.input)().to_value());
        text += &schema("Output", &(capability.output)().to_value());
    }
    (format!("{}.md", capability.name), text)
}

/// The list of all pages.
pub(crate) fn index() -> (String, String) {
    let mut text = format!(
        "# Capabilities\n\n{MADE}\n| capability | HTTP | agents | risk | does |\n|---|---|---|---|---|\n"
    );
    for capability in CATALOG {
        let agents = if capability.is_on(Surface::Agent) { "yes" } else { "" };
        text += &format!(
            "| [`{name}`]({name}.md) | `{}` | {agents} | {} | {} |\n",
            door(capability),
            risk(capability.risk),
            capability.summary,
            name = capability.name
        );
    }
    ("README.md".to_owned(), text)
}

/// The operation at a route.
pub(crate) fn operation<'a>(openapi: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    openapi["paths"].get(path)?.get(method.to_lowercase())
}

fn http(operation: &Value, openapi: &Value) -> String {
    let mut text = String::new();
    if let Some(parameters) = operation["parameters"].as_array().filter(|all| !all.is_empty()) {
        text += "\n## Parameters\n\n| name | in | |\n|---|---|---|\n";
        for parameter in parameters {
            let word = |key: &str| parameter[key].as_str().unwrap_or_default();
            text += &format!("| `{}` | {} | {} |\n", word("name"), word("in"), word("description"));
        }
    }
    if let Some(body) = media(&operation["requestBody"]) {
        text += &schema("Body", resolved(body, openapi));
    }
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        let about = answer["description"].as_str().unwrap_or_default();
        match media(answer).filter(|_| status != "default") {
            Some(body) => text += &schema(&format!("Answer {status}: {about}"), resolved(body, openapi)),
            None if status != "default" => text += &format!("\n## Answer {status}: {about}\n"),
            None => {}
        }
    }
    text
}

fn media(part: &Value) -> Option<&Value> {
    part["content"].as_object()?.values().next()?.get("schema")
}

fn resolved<'a>(schema: &'a Value, openapi: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|reference| openapi.pointer(reference.strip_prefix('#')?));
    target.unwrap_or(schema)
}

fn schema(title: &str, schema: &Value) -> String {
    format!("\n## {title}\n\n```json\n{}\n```\n", serde_json::to_string_pretty(schema).unwrap())
}
