//! Bodies of tool inputs and outputs: small ones travel inside facts, large ones by digest.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Bodies above this many bytes are stored by digest; facts carry a preview and the reference.
pub const INLINE_LIMIT: usize = 64 * 1024;
/// Bytes of a stored body that its preview shows.
pub const PREVIEW_LIMIT: usize = 2 * 1024;

/// A SHA-256 digest, written in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digest of a value's canonical form (RFC 8785), so that key order and spacing do not matter.
    pub fn of_canonical(value: &Value) -> Self {
        Self::of(&canonical(value))
    }

    /// Reads a digest as it appears in an address.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        hex.then(|| Self(text.to_owned()))
    }

    /// The hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The canonical bytes of a JSON value (RFC 8785).
fn canonical(value: &Value) -> Vec<u8> {
    // A `Value` has string keys and finite numbers, the two things that canonical form can refuse.
    serde_json_canonicalizer::to_vec(value).unwrap_or_else(|_| value.to_string().into_bytes())
}

/// A tool's input or output inside a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Body {
    /// At most [`INLINE_LIMIT`] bytes, carried whole.
    Inline(Value),
    /// Stored by digest before the fact that names it.
    Stored {
        /// Where the whole body is: `GET /v1/objects/{digest}`.
        digest: Digest,
        /// Its size in bytes.
        bytes: u64,
        /// Its beginning, at most [`PREVIEW_LIMIT`] bytes, cut at a character's edge.
        preview: String,
    },
}

impl Body {
    /// Splits a value into what a fact carries and, if it is large, the bytes to store under their digest first.
    pub fn split(value: Value) -> (Self, Option<(Digest, Vec<u8>)>) {
        let bytes = value.to_string().into_bytes();
        if bytes.len() <= INLINE_LIMIT {
            return (Self::Inline(value), None);
        }
        let digest = Digest::of(&bytes);
        let preview = cut(&String::from_utf8_lossy(&bytes[..PREVIEW_LIMIT + 4]), PREVIEW_LIMIT).to_owned();
        (Self::Stored { digest: digest.clone(), bytes: bytes.len() as u64, preview }, Some((digest, bytes)))
    }

    /// Size of the whole body in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(value) => value.to_string().len() as u64,
            Self::Stored { bytes, .. } => *bytes,
        }
    }

    /// The value, when the fact carries it whole.
    pub fn inline(&self) -> Option<&Value> {
        match self {
            Self::Inline(value) => Some(value),
            Self::Stored { .. } => None,
        }
    }

    /// What a screen shows: the value itself, or the preview as a string.
    pub fn shown(&self) -> Value {
        match self {
            Self::Inline(value) => value.clone(),
            Self::Stored { preview, .. } => Value::String(preview.clone()),
        }
    }

    /// The digest under which a large body is stored.
    pub fn reference(&self) -> Option<&Digest> {
        match self {
            Self::Inline(_) => None,
            Self::Stored { digest, .. } => Some(digest),
        }
    }
}

/// The longest beginning of `text` with at most `limit` bytes that does not split a character.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn small_bodies_stay_inline_and_large_ones_are_stored() {
        assert_eq!(Body::split(json!({"a": 1})), (Body::Inline(json!({"a": 1})), None));
        let (body, stored) = Body::split(json!("é".repeat(INLINE_LIMIT)));
        let (digest, bytes) = stored.unwrap();
        assert_eq!(body.reference(), Some(&digest));
        assert_eq!(body.bytes(), bytes.len() as u64);
        assert!(body.shown().as_str().unwrap().len() <= PREVIEW_LIMIT);
    }

    #[test]
    fn key_order_does_not_change_the_digest() {
        let (a, b) = (json!({"x": 1, "y": [true]}), json!({"y": [true], "x": 1}));
        assert_eq!(Digest::of_canonical(&a), Digest::of_canonical(&b));
    }
}
