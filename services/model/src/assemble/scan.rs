//! Sees, piece by piece, whether a JSON text has come to its end.

/// Follows brackets and strings only; whether the JSON is valid is the parser's business. Reading each
/// byte once keeps a long call, sent a few bytes at a time, from costing the square of its length.
#[derive(Debug, Default)]
pub(super) struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Scan {
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                let escaped = std::mem::take(&mut self.escaped);
                self.escaped = byte == b'\\' && !escaped;
                self.in_string = byte != b'"' || escaped;
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Whether the outermost bracket has closed.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_bracket_completes() {
        let text = r#" {"a": [1, {"b": "}]\"\\"}], "c": {}} "#;
        let mut scan = Scan::default();
        let end = text.rfind('}').unwrap();
        for (at, character) in text.char_indices() {
            scan.push(&character.to_string());
            assert_eq!(scan.is_complete(), at >= end, "{at}");
        }
    }
}
