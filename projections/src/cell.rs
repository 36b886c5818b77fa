//! Values of columns as they are compared and shown: JSON, with times in one form and as fine as Postgres keeps them.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;
use uuid::Uuid;

/// A column's value.
pub(crate) trait Cell {
    /// As JSON.
    fn cell(&self) -> Value;
}

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::cell)
    }
}

impl Cell for DateTime<Utc> {
    fn cell(&self) -> Value {
        self.to_rfc3339_opts(SecondsFormat::Micros, true).into()
    }
}

impl Cell for Uuid {
    fn cell(&self) -> Value {
        self.to_string().into()
    }
}

macro_rules! plain {
    ($($type:ty)+) => {
        $(impl Cell for $type {
            fn cell(&self) -> Value {
                self.clone().into()
            }
        })+
    };
}
plain!(String bool i32 i64 Value);
