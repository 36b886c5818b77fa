//! Reads server-sent events out of whatever pieces the network gives.

/// Bytes that one event may have.
const LIMIT: usize = 16 * 1024 * 1024;

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its name; `message` where none is given.
    pub(crate) name: String,
    /// The place in the stream to go on from, if this event carries one.
    pub(crate) id: Option<String>,
    /// Its data, lines joined.
    pub(crate) data: String,
}

/// An event that is larger than any that is sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {LIMIT} bytes")]
pub(crate) struct TooLarge;

/// Cuts bytes into events. Comments, unknown fields and an unfinished event at the end are left out.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    name: String,
    id: Option<String>,
    data: Option<String>,
}

impl Decoder {
    /// Takes in the next bytes and gives the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, TooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                // The second half of a CR LF.
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > LIMIT {
                return Err(TooLarge);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { text.trim_start_matches('\u{FEFF}') } else { &text };
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment, `retry`, or what later versions may add.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let (name, id) = (std::mem::take(&mut self.name), self.id.take());
        let data = self.data.take()?;
        Some(SseEvent { name: if name.is_empty() { "message".to_owned() } else { name }, id, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, id: Option<&str>, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), id: id.map(str::to_owned), data: data.to_owned() }
    }

    #[test]
    fn the_same_events_whatever_the_pieces() {
        let text = "\u{FEFF}: hello\n\nid: 7\nevent: turn-started\ndata: {\"a\":\ndata:1}\n\nevent: text-delta\r\ndata:  hé\r\n\r\ndata\n\n";
        let wanted = [
            event("turn-started", Some("7"), "{\"a\":\n1}"),
            event("text-delta", None, " hé"),
            event("message", None, ""),
        ];
        for size in 1..text.len() {
            let mut decoder = Decoder::default();
            let events: Vec<_> =
                text.as_bytes().chunks(size).flat_map(|piece| decoder.feed(piece).unwrap()).collect();
            assert_eq!(events, wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn heartbeats_and_unfinished_events_give_nothing() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b": alive\n\nretry: 5\n\ndata: cut").unwrap(), []);
        assert_eq!(decoder.feed(b"\n").unwrap(), []);
        assert_eq!(decoder.feed(b"\n").unwrap(), [event("message", None, "cut")]);
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut decoder = Decoder::default();
        let piece = vec![b'x'; LIMIT / 2 + 1];
        assert!(decoder.feed(&piece).is_ok());
        assert_eq!(decoder.feed(&piece), Err(TooLarge));
    }
}
