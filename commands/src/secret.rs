//! The text of an API key: `oxk_` and, in base64url, the key's identifier followed by 32 random bytes.
//!
//! The identifier says which key to load; only a hash of the whole text is kept.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oxagen_domain::{ApiKeyId, Digest};
use uuid::Uuid;

const PREFIX: &str = "oxk_";

/// A new key's text.
pub(crate) fn make(id: ApiKeyId) -> String {
    let mut bytes = id.0.as_bytes().to_vec();
    bytes.extend_from_slice(&rand::random::<[u8; 32]>());
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The identifier inside a key's text; none for what is no key.
pub(crate) fn id(text: &str) -> Option<ApiKeyId> {
    let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
    (bytes.len() == 48).then(|| Uuid::from_slice(&bytes[..16]).ok().map(ApiKeyId)).flatten()
}

/// What is kept. A key has 256 random bits, so a plain hash cannot be turned back by guessing.
pub(crate) fn hash(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// Compares without telling by its time where the two differ.
pub(crate) fn matches(hash: &str, text: &str) -> bool {
    let own = self::hash(text);
    own.len() == hash.len() && own.bytes().zip(hash.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_itself_and_only_its_own_text_matches() {
        let key = ApiKeyId(Uuid::from_u128(5));
        let text = make(key);
        assert_eq!(id(&text), Some(key));
        assert!(matches(&hash(&text), &text) && !matches(&hash(&text), &make(key)));
        assert_eq!(id("oxk_short"), None);
    }
}
