//! Keys of the advisory locks; each use has its own label, so that uses never meet.

use sha2::{Digest, Sha256};

/// The lock key of a thing: the first eight bytes of a digest over its label and its parts.
pub(crate) fn key(label: &str, parts: &[&str]) -> i64 {
    let mut hash = Sha256::new_with_prefix(label);
    for part in parts {
        hash.update([0]);
        hash.update(part);
    }
    hash.finalize().iter().take(8).fold(0, |key, byte| (key << 8) | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_eq!(key("a", &["b", "c"]), key("a", &["b", "c"]));
        assert_ne!(key("a", &["b", "c"]), key("a", &["bc"]));
        assert_ne!(key("a", &["b"]), key("b", &["a"]));
    }
}
