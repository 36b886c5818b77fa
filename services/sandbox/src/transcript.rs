//! What a program has written so far: capped while it is read, and in pieces for whoever watches.

use std::collections::VecDeque;

use crate::text::TextDecoder;
use crate::{Channel, Chunk};

/// The most text kept of each stream, in bytes of UTF-8: 1 MiB. The mark of the cut comes after it.
pub const OUTPUT_CAP: usize = 1 << 20;
/// Pieces nobody has taken yet grow together up to this size.
const MERGED_CHUNK: usize = 32 << 10;

/// Both streams of one program. Its memory is bounded by the caps, however much is pushed.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    stdout: Stream,
    stderr: Stream,
    pending: VecDeque<Chunk>,
}

#[derive(Debug, Default)]
struct Stream {
    decoder: TextDecoder,
    text: String,
    cut: bool,
}

impl Transcript {
    /// Takes the next bytes of a stream; those beyond the cap are dropped.
    pub(crate) fn push(&mut self, channel: Channel, bytes: &[u8]) {
        let stream = self.stream(channel);
        if !stream.cut {
            let piece = stream.decoder.decode(bytes);
            self.admit(channel, piece);
        }
    }

    /// Ends both streams.
    pub(crate) fn finish(&mut self) {
        for channel in [Channel::Stdout, Channel::Stderr] {
            let stream = self.stream(channel);
            if !stream.cut {
                let piece = stream.decoder.finish();
                self.admit(channel, piece);
            }
        }
    }

    /// Whether there are pieces that nobody has taken yet.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes the oldest piece.
    pub(crate) fn take_pending(&mut self) -> Option<Chunk> {
        self.pending.pop_front()
    }

    /// The streams that were cut.
    pub(crate) fn cut(&self) -> Vec<Channel> {
        let streams = [(Channel::Stdout, &self.stdout), (Channel::Stderr, &self.stderr)];
        streams.into_iter().filter(|(_, stream)| stream.cut).map(|(channel, _)| channel).collect()
    }

    /// Standard output and standard error.
    pub(crate) fn into_texts(self) -> (String, String) {
        (self.stdout.text, self.stderr.text)
    }

    /// What was written to standard error so far.
    pub(crate) fn stderr(&self) -> &str {
        &self.stderr.text
    }

    fn admit(&mut self, channel: Channel, mut piece: String) {
        let stream = self.stream(channel);
        let room = OUTPUT_CAP - stream.text.len();
        if piece.len() > room {
            piece.truncate(piece.floor_char_boundary(room));
            piece.push_str("\n[output cut here: the rest is over 1 MiB]\n");
            stream.cut = true;
        }
        if piece.is_empty() {
            return;
        }
        let offset = stream.text.len() as u64;
        stream.text.push_str(&piece);
        match self.pending.back_mut() {
            Some(last) if last.channel == channel && last.text.len() + piece.len() <= MERGED_CHUNK => {
                last.text.push_str(&piece);
            }
            Some(_) | None => self.pending.push_back(Chunk { channel, text: piece, offset }),
        }
    }

    fn stream(&mut self, channel: Channel) -> &mut Stream {
        match channel {
            Channel::Stdout => &mut self.stdout,
            Channel::Stderr => &mut self.stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_on_a_character_and_marked_once() {
        let mut transcript = Transcript::default();
        transcript.push(Channel::Stdout, b"x");
        for _ in 0..40_000 {
            transcript.push(Channel::Stdout, "漢".repeat(100).as_bytes());
        }
        transcript.push(Channel::Stderr, b"quiet");
        transcript.finish();

        assert_eq!(transcript.cut(), [Channel::Stdout]);
        let (stdout, stderr) = transcript.into_texts();
        let (kept, mark) = stdout.split_once('\n').unwrap();
        assert!((OUTPUT_CAP - 2..=OUTPUT_CAP).contains(&kept.len()), "{} bytes were kept", kept.len());
        assert_eq!(mark, "[output cut here: the rest is over 1 MiB]\n");
        assert_eq!(stderr, "quiet");
    }

    #[test]
    fn pieces_joined_are_the_text_and_offsets_fit() {
        let mut transcript = Transcript::default();
        for n in 0..5_000 {
            transcript.push(if n % 7 == 0 { Channel::Stderr } else { Channel::Stdout }, "né".as_bytes());
        }
        let mut joined = [String::new(), String::new()];
        while let Some(chunk) = transcript.take_pending() {
            let text = &mut joined[usize::from(chunk.channel == Channel::Stderr)];
            assert_eq!(chunk.offset, text.len() as u64);
            text.push_str(&chunk.text);
        }
        let [stdout, stderr] = joined;
        assert_eq!(transcript.into_texts(), (stdout, stderr));
    }
}
