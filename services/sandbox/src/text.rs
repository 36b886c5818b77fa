//! Turns a stream of bytes, however it was cut into reads, into text.

/// Decodes UTF-8 piece by piece. A character split across two reads comes out whole; invalid bytes and NUL come out
/// as U+FFFD (Postgres stores no NUL in text).
#[derive(Debug, Default)]
pub(crate) struct TextDecoder {
    /// The beginning of a character whose rest has not come yet: at most three bytes.
    unfinished: Vec<u8>,
}

impl TextDecoder {
    /// Decodes the next read.
    pub(crate) fn decode(&mut self, read: &[u8]) -> String {
        let mut joined = std::mem::take(&mut self.unfinished);
        let mut rest = if joined.is_empty() {
            read
        } else {
            joined.extend_from_slice(read);
            &joined
        };
        let mut text = String::with_capacity(rest.len());
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, after) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            let Some(invalid) = error.error_len() else {
                self.unfinished = after.to_vec();
                rest = &[];
                break;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &after[invalid..];
        }
        text.push_str(&String::from_utf8_lossy(rest));
        without_nul(text)
    }

    /// Ends the stream: a character that never became whole is invalid.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.unfinished)).into_owned()
    }
}

fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_reads_of(size: usize, bytes: &[u8]) -> String {
        let mut decoder = TextDecoder::default();
        let mut text: String = bytes.chunks(size).map(|read| decoder.decode(read)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn a_character_across_reads_stays_whole() {
        let text = "aé漢🦀\u{1b}[31m\r\n";
        for size in 1..8 {
            assert_eq!(in_reads_of(size, text.as_bytes()), text, "in reads of {size}");
        }
    }

    #[test]
    fn invalid_bytes_and_nul_are_replaced() {
        for size in 1..6 {
            assert_eq!(in_reads_of(size, b"a\xFF\xFE\x00\x80b"), "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b");
            assert_eq!(
                in_reads_of(size, b"ok\xF0\x9F\xA6"),
                "ok\u{FFFD}",
                "an unfinished character at the end"
            );
            assert_eq!(in_reads_of(size, b"\xE6\xBCx"), "\u{FFFD}x");
        }
    }
}
