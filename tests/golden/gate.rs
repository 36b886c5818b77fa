//! The manifest gate: a capability has every layer that its surfaces promise.

use std::fs;
use std::path::Path;

use oxagen_domain::capability::{
    Capability, Surface,
    catalog::{self, CATALOG},
};
use serde_json::Value;

use super::{file::root, openapi, page};

#[test]
fn every_capability_has_every_layer_of_its_surfaces() {
    let openapi = openapi();
    let unit = sources(&["domain", "commands", "gateway", "projections", "services"]).concat();
    let end_to_end = sources(&["tests/it"]).concat();
    let lacks: Vec<_> = CATALOG
        .iter()
        .flat_map(|capability| {
            let mut lacks = layers(capability, &openapi);
            let named = |text: &str| text.contains(&format!("\"{}\"", capability.name));
            lacks.extend((!named(&unit)).then(|| "no unit test names it".to_owned()));
            let covered = end_to_end.contains(&format!("`{}`", capability.name)) || named(&end_to_end);
            lacks.extend((!covered).then(|| "no test in tests/it names it".to_owned()));
            lacks.into_iter().map(move |what| format!("{}: {what}", capability.name))
        })
        .collect();
    assert!(lacks.is_empty(), "docs/add-a-capability.md says what belongs to one:\n  {}", lacks.join("\n  "));
}

fn layers(capability: &Capability, openapi: &Value) -> Vec<String> {
    let mut lacks = Vec::new();
    for (name, schema) in [("input", (capability.input)()), ("output", (capability.output)())] {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            lacks.push(format!("its {name} schema describes no object"));
        }
    }
    if capability.is_on(Surface::Api) {
        let (method, path, operation) = match capability.route {
            Some(route) => (route.method, route.path, capability.name),
            None => ("POST", "/v1/tool-calls", "tool-calls.create"),
        };
        match page::operation(openapi, method, path) {
            None => lacks.push(format!("there is no {method} {path} in the OpenAPI document")),
            Some(found) if capability.route.is_some() && found["operationId"] != operation => {
                lacks.push(format!("the operationId of {method} {path} is {}", found["operationId"]));
            }
            Some(_) => {}
        }
    }
    if capability.is_tool() {
        let wire = capability.wire_name();
        if catalog::find_by_wire_name(&wire).map(|found| found.name) != Some(capability.name) {
            lacks.push(format!("a model's call of {wire} does not find it"));
        }
    }
    if capability.surfaces.is_empty() {
        lacks.push("it has no surface".to_owned());
    }
    if !root().join(format!("docs/capabilities/{}.md", capability.name)).is_file() {
        lacks.push("it has no page in docs/capabilities".to_owned());
    }
    lacks
}

/// The test code below these folders: files of tests, and what follows `#[cfg(test)]` in the others.
fn sources(folders: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    folders.iter().for_each(|folder| collect(&root().join(folder), &mut all));
    all
}

fn collect(folder: &Path, all: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let is_test =
                path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
            all.extend(if is_test {
                Some(text)
            } else {
                text.split_once("#[cfg(test)]").map(|(_, test)| test.to_owned())
            });
        }
    }
}
