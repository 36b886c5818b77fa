//! One-word enums as rows have them.

use serde::Serialize;

/// The word that serde writes.
pub(crate) fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}
