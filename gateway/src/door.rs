//! One row of the route table: from it come the route, its guard, its OpenAPI entry and its golden line.

use axum::routing::MethodRouter;
use oxagen_domain::Right;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::state::App;

/// What may happen at a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    /// Reads.
    Get,
    /// Makes or asks for something.
    Post,
    /// Sets the whole.
    Put,
    /// Changes a part.
    Patch,
    /// Takes away.
    Delete,
}

impl Method {
    /// As in a request line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Everybody, without a key.
    Open,
    /// A key whose role carries this right.
    Needs(Right),
}

/// A parameter in the query or a header.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) is_header: bool,
    pub(crate) schema: Value,
    pub(crate) about: &'static str,
}

/// What a request or an answer carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) media: &'static str,
    pub(crate) schema: Option<SchemaSource>,
}

/// A schema with the name under which the OpenAPI document lists it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaSource {
    pub(crate) name: fn() -> String,
    pub(crate) schema: fn() -> Schema,
}

/// An answer that is no refusal.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) about: &'static str,
    pub(crate) contents: Vec<Content>,
}

/// One row.
pub(crate) struct Door {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// The capability's name, or a name of the same form for what is none.
    pub(crate) operation: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) guard: Guard,
    pub(crate) params: Vec<Param>,
    pub(crate) body: Option<(Content, bool)>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) handler: MethodRouter<App>,
}

impl Door {
    /// A door with a handler; everything else is told in words.
    pub(crate) fn new(
        method: Method,
        path: &'static str,
        operation: &'static str,
        guard: Guard,
        handler: MethodRouter<App>,
    ) -> Self {
        let (params, answers) = (Vec::new(), Vec::new());
        let (summary, tag) = ("", "runtime");
        Self { method, path, operation, summary, tag, guard, params, body: None, answers, handler }
    }

    /// What it does, and under which heading.
    pub(crate) fn about(mut self, tag: &'static str, summary: &'static str) -> Self {
        (self.tag, self.summary) = (tag, summary);
        self
    }

    /// Takes a parameter after the `?`.
    pub(crate) fn query<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        self.params.push(Param { name, is_header: false, schema: inline::<T>(), about });
        self
    }

    /// Takes a header.
    pub(crate) fn header<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        self.params.push(Param { name, is_header: true, schema: inline::<T>(), about });
        self
    }

    /// Is a list: `{items, nextCursor?}`.
    pub(crate) fn paged(self) -> Self {
        let cursor = json!({"type": "string", "pattern": "^-?[0-9]+-[0-9a-f]{32}$"});
        self.limited(200, "Items on a page, 50 unless told otherwise.").query_as(
            "cursor",
            cursor,
            "`nextCursor` of the page before.",
        )
    }

    /// Takes a limit from 1 to this.
    pub(crate) fn limited(self, most: u32, about: &'static str) -> Self {
        self.query_as("limit", json!({"type": "integer", "minimum": 1, "maximum": most}), about)
    }

    fn query_as(mut self, name: &'static str, schema: Value, about: &'static str) -> Self {
        self.params.push(Param { name, is_header: false, schema, about });
        self
    }

    /// Takes a JSON body.
    pub(crate) fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some((Content { media: "application/json", schema: Some(source::<T>()) }, true));
        self
    }

    /// Takes a JSON body that may be left out.
    pub(crate) fn may_take<T: JsonSchema>(mut self) -> Self {
        self.body = Some((Content { media: "application/json", schema: Some(source::<T>()) }, false));
        self
    }

    /// Takes bytes.
    pub(crate) fn takes_bytes(mut self) -> Self {
        self.body = Some((Content { media: "application/octet-stream", schema: None }, true));
        self
    }

    /// Answers with JSON.
    pub(crate) fn gives<T: JsonSchema>(mut self, status: u16, about: &'static str) -> Self {
        let content = Content { media: "application/json", schema: Some(source::<T>()) };
        self.answers.push(Answer { status, about, contents: vec![content] });
        self
    }

    /// Answers with another kind of content.
    pub(crate) fn gives_media(mut self, status: u16, media: &'static str, about: &'static str) -> Self {
        self.answers.push(Answer { status, about, contents: vec![Content { media, schema: None }] });
        self
    }

    /// The same answer may come as another kind of content.
    pub(crate) fn or_media(mut self, media: &'static str) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.contents.push(Content { media, schema: None });
        }
        self
    }

    /// Answers without content.
    pub(crate) fn gives_nothing(mut self, status: u16, about: &'static str) -> Self {
        self.answers.push(Answer { status, about, contents: Vec::new() });
        self
    }

    /// The names that it takes after the `?`.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.params.iter().filter(|param| !param.is_header).map(|param| param.name)
    }

    /// One line for the golden list.
    pub(crate) fn line(&self) -> String {
        let guard = match self.guard {
            Guard::Open => "open".to_owned(),
            Guard::Needs(right) => format!("{right:?}").to_lowercase(),
        };
        format!("{:6} {} {} {guard}", self.method.name(), self.path, self.operation)
    }
}

fn inline<T: JsonSchema>() -> Value {
    T::json_schema(&mut schemars::SchemaGenerator::default()).to_value()
}

fn source<T: JsonSchema>() -> SchemaSource {
    SchemaSource { name: || T::schema_name().into_owned(), schema: whole::<T> }
}

/// A schema with what it refers to under `$defs`.
fn whole<T: JsonSchema>() -> Schema {
    schemars::SchemaGenerator::default().into_root_schema_for::<T>()
}
