use serde_json::json;
use uuid::Uuid;

use super::*;

fn frame(offset: u64, kind: FrameKind) -> Frame {
    Frame {
        conversation_id: Uuid::from_u128(1).into(),
        turn_id: Uuid::from_u128(2).into(),
        turn_version: 3,
        step: 1,
        attempt: 1,
        offset,
        kind,
    }
}

fn text(offset: u64, text: &str) -> Frame {
    frame(offset, FrameKind::TextDelta { text: text.to_owned() })
}

#[test]
fn the_wire_form_is_flat_camel_case() {
    let call_id = Uuid::from_u128(9).into();
    let output = FrameKind::ToolCallOutput { call_id, channel: Channel::Stderr, text: "x".to_owned() };
    let wire = serde_json::to_value(frame(5, output.clone())).unwrap();
    let expected = json!({
        "conversationId": Uuid::from_u128(1), "turnId": Uuid::from_u128(2), "turnVersion": 3, "step": 1,
        "attempt": 1, "offset": 5, "type": "tool-call-output", "callId": Uuid::from_u128(9),
        "channel": "stderr", "text": "x",
    });
    assert_eq!(wire, expected);
    assert_eq!(serde_json::from_value::<Frame>(wire).unwrap(), frame(5, output));
}

#[test]
fn only_the_very_next_piece_of_the_same_text_is_absorbed() {
    let mut first = text(0, "né");
    assert_eq!(first.absorb(text(3, "xt")), None);
    assert_eq!(first, text(0, "néxt"));
    assert!(first.absorb(text(9, "later")).is_some());
    assert!(first.absorb(frame(5, FrameKind::ReasoningDelta { text: "other".to_owned() })).is_some());
    assert!(first.absorb(Frame { attempt: 2, ..text(5, "again") }).is_some());
}

#[test]
fn a_split_text_is_whole_again_when_absorbed() {
    let whole = text(7, &"é🦉".repeat(50));
    let mut pieces = whole.clone().split(16).into_iter();
    let mut again = pieces.next().unwrap();
    for piece in pieces {
        assert!(piece.text().len() <= 16);
        assert_eq!(again.absorb(piece), None);
    }
    assert_eq!(again, whole);
}
