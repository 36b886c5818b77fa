//! What answers look like, for the OpenAPI document. The values themselves are rows of the read models and receipts
//! of commands.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use oxagen_domain::turn::Usage;
use oxagen_domain::{Decision, Fact, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A shape is a name and its members, `?` after those that may be missing.
macro_rules! shapes {
    ($($(#[doc = $doc:literal])+ $shape:ident { $($field:literal $($optional:tt)?: $type:ty),* $(,)? })+) => {$(
        $(#[doc = $doc])+
        pub(crate) struct $shape;

        impl JsonSchema for $shape {
            fn schema_name() -> Cow<'static, str> {
                stringify!($shape).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut shape = Shape::default();
                $(shape.member($field, shapes!(@needed $($optional)?), generator.subschema_for::<$type>());)*
                shape.schema(concat!($($doc),+))
            }
        }
    )+};
    (@needed) => { true };
    (@needed ?) => { false };
}
