//! Cuts a byte stream into server-sent events, whatever the size of the reads.

use std::mem;

/// Bytes one event may have: the longest answer with every character escaped, and room around it.
const EVENT_LIMIT: usize = 8 * crate::OUTPUT_LIMIT;
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// One event that carries data.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event:` field, mostly empty.
    pub(crate) name: String,
    /// The `data:` lines, joined by line feeds.
    pub(crate) data: String,
}

/// An event larger than [`EVENT_LIMIT`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventTooLarge;

/// Works on bytes and reads UTF-8 only in whole lines, so that a character may be split over reads.
#[derive(Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_cr: bool,
    started: bool,
}

impl Decoder {
    /// Takes the next bytes and gives the events they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, EventTooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_cr = mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if follows_cr => {}
                b'\r' | b'\n' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > EVENT_LIMIT {
                return Err(EventTooLarge);
            }
        }
        Ok(events)
    }

    /// What is left when the stream ends without the blank line that an event should close with.
    pub(crate) fn rest(&mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = mem::take(&mut self.line);
        let first = !mem::replace(&mut self.started, true);
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| first).unwrap_or(&bytes);
        if bytes.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(bytes);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments (an empty field), `id` and `retry` mean nothing here.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = mem::take(&mut self.event);
        mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\ndata:{\"t\":\"京都 🦉 ñ\"}\r\n\r\n:\rdata: a\rdata: b\r\revent: error\ndata\n\nid: 1\n\nretry: 5\ndata:  two\n\n";

    fn expected() -> Vec<Event> {
        [("", "{\"t\":\"京都 🦉 ñ\"}"), ("", "a\nb"), ("error", ""), ("", " two")]
            .map(|(name, data)| Event { name: name.into(), data: data.into() })
            .into()
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(sizes in proptest::collection::vec(1usize..9, 1..40)) {
            let (mut decoder, mut events, mut rest) = (Decoder::default(), Vec::new(), STREAM.as_bytes());
            for size in sizes.iter().cycle() {
                let (head, tail) = rest.split_at((*size).min(rest.len()));
                events.extend(decoder.push(head).unwrap());
                rest = tail;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(events, expected());
            prop_assert_eq!(decoder.rest(), None);
        }
    }

    #[test]
    fn an_event_without_its_blank_line_is_left_over() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"data: [DONE]"), Ok(vec![]));
        assert_eq!(decoder.rest().map(|event| event.data), Some("[DONE]".to_owned()));
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(&vec![b'x'; EVENT_LIMIT + 1]), Err(EventTooLarge));
    }
}
