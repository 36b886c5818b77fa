//! JSON schemas (schemars) inside the OpenAPI document: OpenAPI 3.1 takes them as they are.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::door::SchemaSource;

/// The schemas that the document lists by name.
#[derive(Default)]
pub(super) struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    /// Lists a schema under its name, and what it refers to beside it.
    pub(super) fn reference(&mut self, source: SchemaSource) -> RefOr<Schema> {
        let name = (source.name)();
        let mut schema = (source.schema)().to_value();
        if let Value::Object(members) = &mut schema {
            members.remove("$schema");
            members.remove("title");
            if let Some(Value::Object(inner)) = members.remove("$defs") {
                for (name, schema) in inner {
                    self.add_raw(&name, schema);
                }
            }
        }
        self.add_raw(&name, schema);
        RefOr::Ref(Ref::from_schema_name(name))
    }

    /// Lists a schema.
    pub(super) fn add_raw(&mut self, name: &str, mut schema: Value) {
        relocate(&mut schema);
        self.0.insert(name.to_owned(), schema);
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (String, RefOr<Schema>)> {
        self.0.into_iter().map(|(name, schema)| (name, raw(schema)))
    }
}

/// References of a schema on its own point into its `$defs`; in the document these are components.
fn relocate(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            members.values_mut().for_each(relocate);
        }
        Value::Array(items) => items.iter_mut().for_each(relocate),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Any JSON schema: utoipa writes members that it does not know just as they are.
pub(super) fn raw(schema: Value) -> RefOr<Schema> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Default::default()
        }
    };
    let object = ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .extensions(Some(Extensions::from_iter(members)))
        .build();
    RefOr::T(Schema::Object(object))
}
