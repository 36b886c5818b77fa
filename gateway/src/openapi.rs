//! The OpenAPI document, made from the route table.

mod page;
mod schema;

use oxagen_domain::capability::catalog;
use serde_json::{Value, json};
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, ParameterBuilder, ParameterIn, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, Required,
};

use crate::door::{Content, Door, Guard, Method};
use crate::error;
use crate::routes;
pub(crate) use page::page;
use schema::Schemas;

/// The name of the one way to prove who calls.
const BEARER: &str = "key";
/// The answer that every operation may give instead.
const PROBLEM: &str = "Problem";

/// The document of this build.
pub fn openapi() -> OpenApi {
    let mut schemas = Schemas::default();
    schemas.add_raw(PROBLEM, problem_schema());
    let paths = routes::doors().iter().fold(PathsBuilder::new(), |paths, door| {
        paths.path(door.path, PathItem::new(http_method(door.method), operation(door, &mut schemas)))
    });
    let key = SecurityScheme::Http(
        Http::builder()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key (`oxk_…`). It decides tenant and workspace."))
            .build(),
    );
    let components =
        schemas.into_iter().fold(ComponentsBuilder::new(), |all, (name, schema)| all.schema(name, schema));
    let info = InfoBuilder::new()
        .title("Oxagen Agent Runtime")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A durable runtime for agents. Every refusal is problem+json (RFC 9457) with a stable code; \
             its page is at `/docs/errors/<code>`.",
        ));
    OpenApiBuilder::new()
        .info(info.build())
        .paths(paths)
        .components(Some(components.security_scheme(BEARER, key).build()))
        .build()
}

/// The document as JSON, its members sorted, so that the same build always gives the same text.
pub fn openapi_json() -> Value {
    serde_json::to_value(openapi()).unwrap_or_default()
}

fn operation(door: &Door, schemas: &mut Schemas) -> Operation {
    let capability = catalog::find(door.operation);
    let summary = capability.map_or(door.summary, |capability| capability.summary);
    let mut built = OperationBuilder::new()
        .operation_id(Some(door.operation))
        .tag(door.tag)
        .summary(Some(summary))
        .description((!door.summary.is_empty() && door.summary != summary).then_some(door.summary));
    for name in path_parameters(door.path) {
        let parameter =
            ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
        built = built.parameter(parameter.schema(Some(schema::raw(path_schema(name)))));
    }
    for param in &door.params {
        let place = if param.is_header { ParameterIn::Header } else { ParameterIn::Query };
        let parameter = ParameterBuilder::new()
            .name(param.name)
            .parameter_in(place)
            .required(Required::False)
            .description(Some(param.about))
            .schema(Some(schema::raw(param.schema.clone())));
        built = built.parameter(parameter);
    }
    if door.method == Method::Post {
        let about = "Repeats with the same key give the first answer. At most 255 characters.";
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 255});
        let parameter = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(about));
        built = built.parameter(parameter.schema(Some(schema::raw(schema))));
    }
    if let Some((content, required)) = &door.body {
        let needed = if *required { Required::True } else { Required::False };
        let body =
            RequestBodyBuilder::new().content(content.media, media(content, schemas)).required(Some(needed));
        built = built.request_body(Some(body.build()));
    }
    if let Guard::Needs(_) = door.guard {
        built = built.security(SecurityRequirement::new(BEARER, Vec::<String>::new()));
    }
    built.responses(responses(door, schemas)).build()
}

fn responses(door: &Door, schemas: &mut Schemas) -> utoipa::openapi::Responses {
    let mut all = ResponsesBuilder::new();
    for answer in &door.answers {
        let mut response = ResponseBuilder::new().description(answer.about);
        for content in &answer.contents {
            response = response.content(content.media, media(content, schemas));
        }
        all = all.response(answer.status.to_string(), response.build());
    }
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(PROBLEM))).build();
    let refusal = ResponseBuilder::new()
        .description("A refusal with a stable code, the field, and what to do.")
        .content(error::CONTENT_TYPE, problem);
    all.response("default", refusal.build()).build()
}

fn media(content: &Content, schemas: &mut Schemas) -> utoipa::openapi::Content {
    let schema = content.schema.map(|source| schemas.reference(source));
    ContentBuilder::new().schema(schema).build()
}

fn http_method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Put => HttpMethod::Put,
        Method::Patch => HttpMethod::Patch,
        Method::Delete => HttpMethod::Delete,
    }
}

fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_schema(name: &str) -> Value {
    match name {
        "digest" => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        "code" => json!({"type": "string"}),
        _ => json!({"type": "string", "format": "uuid"}),
    }
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": {"type": "string", "description": "The code's page, `/docs/errors/<code>`."},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What was wrong here and what to do."},
            "code": {"type": "string", "enum": error::KINDS.iter().map(|kind| kind.code).collect::<Vec<_>>()},
            "field": {"type": "string", "description": "JSON pointer to the first value that does not fit."},
            "flaws": {"type": "array", "items": {
                "type": "object", "required": ["pointer", "expected"],
                "properties": {"pointer": {"type": "string"}, "expected": {"type": "string"}},
            }},
        },
    })
}

/// The routes that need no key, for a golden file.
pub fn unguarded_routes() -> Vec<String> {
    lines(|guard| guard == Guard::Open)
}

/// Every route with what guards it, for a golden file.
pub fn route_list() -> Vec<String> {
    lines(|_| true)
}

fn lines(wanted: impl Fn(Guard) -> bool) -> Vec<String> {
    let mut lines: Vec<_> =
        routes::doors().iter().filter(|door| wanted(door.guard)).map(Door::line).collect();
    lines.sort();
    lines
}

/// Whether a capability's declaration and its door say the same.
#[cfg(test)]
fn agrees(door: &Door, capability: &oxagen_domain::capability::Capability) -> bool {
    let Some(route) = capability.route else { return false };
    let guard = Guard::Needs(capability.right);
    (route.method, route.path, guard) == (door.method.name(), door.path, door.guard)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_capability_with_a_route_has_its_door() {
        let doors = routes::doors();
        for capability in catalog::CATALOG.iter().filter(|capability| capability.route.is_some()) {
            let door = doors.iter().find(|door| door.operation == capability.name);
            assert!(door.is_some_and(|door| agrees(door, capability)), "{}", capability.name);
        }
    }

    #[test]
    fn operations_are_unique_and_all_in_the_document() {
        let doors = routes::doors();
        let operations: BTreeSet<_> = doors.iter().map(|door| door.operation).collect();
        assert_eq!(operations.len(), doors.len());
        let document = openapi_json();
        for door in &doors {
            let operation = &document["paths"][door.path][door.method.name().to_lowercase()];
            assert_eq!(operation["operationId"], door.operation, "{}", door.line());
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = openapi_json();
        let text = document.to_string();
        for part in text.split("\"$ref\":\"").skip(1) {
            let reference = part.split('"').next().unwrap();
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn only_what_says_nothing_about_anybody_is_open() {
        for line in unguarded_routes() {
            let path = line.split_whitespace().nth(1).unwrap();
            assert!(!path.starts_with("/v1/") || path == "/v1/openapi.json", "{line}");
        }
    }
}
