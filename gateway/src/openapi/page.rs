//! The OpenAPI document as a page for people, without a script.

use serde_json::{Map, Value};

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f; background: #fff }
h2 { margin-top: 2.5rem; text-transform: capitalize } summary { cursor: pointer; padding: .35rem 0 }
code { font: .9em ui-monospace, monospace } pre { overflow: auto; padding: .75rem; background: #f3f3f6; border-radius: .4rem }
.method { display: inline-block; min-width: 4.2rem; font-weight: 600 } .guard { color: #6b6b76; font-size: .85em }
details { border-bottom: 1px solid #e3e3e8 } table { border-collapse: collapse } td { padding: .15rem 1rem .15rem 0; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #e6e6ea; background: #17171a } pre { background: #232328 } details { border-color: #33333a } a { color: #9db7ff } .guard { color: #9a9aa6 } }
";

/// The page.
pub(crate) fn page(document: &Value) -> String {
    let mut sections: Map<String, Value> = Map::new();
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item) {
            let tag = operation["tags"][0].as_str().unwrap_or("runtime").to_owned();
            let section = sections.entry(tag).or_insert_with(|| Value::String(String::new()));
            let text =
                section.as_str().unwrap_or_default().to_owned() + &operation_html(method, path, operation);
            *section = Value::String(text);
        }
    }
    let sections: String = sections
        .iter()
        .map(|(tag, html)| format!("<h2>{}</h2>{}", escape(tag), html.as_str().unwrap_or_default()))
        .collect();
    let schemas: String = members(&document["components"]["schemas"])
        .map(|(name, schema)| {
            let name = escape(name);
            format!(
                "<details id=\"{name}\"><summary><code>{name}</code></summary><pre>{}</pre></details>",
                escape(&format!("{schema:#}"))
            )
        })
        .collect();
    let info = &document["info"];
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><h1>{title} <small>{version}</small></h1><p>{about}</p>\
         <p>The same for programs: <a href=\"/v1/openapi.json\">/v1/openapi.json</a>.</p>{sections}\
         <h2>Shapes</h2>{schemas}</html>",
        title = text(&info["title"]),
        version = text(&info["version"]),
        about = text(&info["description"]),
    )
}

fn operation_html(method: &str, path: &str, operation: &Value) -> String {
    let guard = if operation["security"].is_array() { "needs a key" } else { "open" };
    let parameters: String = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|parameter| {
            let (name, place, about) = (&parameter["name"], &parameter["in"], &parameter["description"]);
            format!("<tr><td><code>{}</code><td>{}<td>{}", text(name), text(place), text(about))
        })
        .collect();
    let body = operation["requestBody"]["content"].as_object().map(content).unwrap_or_default();
    let body = if body.is_empty() { body } else { format!("<p>Takes {body}</p>") };
    let answers: String = members(&operation["responses"])
        .map(|(status, answer)| {
            let content = answer["content"].as_object().map(content).unwrap_or_default();
            format!(
                "<tr><td><code>{}</code><td>{}<td>{content}",
                escape(status),
                text(&answer["description"])
            )
        })
        .collect();
    format!(
        "<details><summary><span class=\"method\">{method}</span><code>{path}</code> — {summary} \
         <span class=\"guard\">{guard}</span></summary><p><code>{id}</code> {about}</p><table>{parameters}</table>\
         {body}<table>{answers}</table></details>",
        method = escape(&method.to_uppercase()),
        path = escape(path),
        summary = text(&operation["summary"]),
        id = text(&operation["operationId"]),
        about = text(&operation["description"]),
    )
}

fn content(content: &Map<String, Value>) -> String {
    let one = |(media, content): (&String, &Value)| {
        let name = content["schema"]["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let shape = name.map(|name| format!(" <a href=\"#{0}\">{0}</a>", escape(name))).unwrap_or_default();
        format!("<code>{}</code>{shape}", escape(media))
    };
    content.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use crate::door::Door;
    use crate::openapi::openapi_json;
    use crate::routes;

    use super::*;

    #[test]
    fn every_operation_is_on_the_page() {
        let html = page(&openapi_json());
        for Door { operation, .. } in routes::doors() {
            assert!(html.contains(operation), "{operation}");
        }
        assert!(!html.contains("<script"));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }
}
