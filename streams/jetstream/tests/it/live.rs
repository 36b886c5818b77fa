use std::time::Duration;

use chrono::Utc;
use futures::{Stream, StreamExt};
use oxagen_domain::{ConversationId, Scope};
use oxagen_jetstream::live::{self, Channel, Frame, FrameKind, LivePublisher};
use uuid::Uuid;

use crate::world::{World, soon};

fn scope() -> Scope {
    Scope { tenant: Uuid::from_u128(1).into(), workspace: Uuid::from_u128(2).into() }
}

fn conversation(number: u128) -> ConversationId {
    Uuid::from_u128(number).into()
}

fn frame(number: u128, offset: u64, kind: FrameKind) -> Frame {
    Frame {
        conversation_id: conversation(number),
        turn_id: Uuid::from_u128(9).into(),
        turn_version: 1,
        step: 1,
        attempt: 1,
        offset,
        kind,
    }
}

/// A text in pieces of one character.
fn pieces(number: u128, text: &str) -> Vec<Frame> {
    let piece = |(offset, letter): (usize, char)| {
        frame(number, offset as u64, FrameKind::TextDelta { text: letter.to_string() })
    };
    text.char_indices().map(piece).collect()
}

/// What a screen would show of a conversation, read until it has this many bytes.
async fn shown(
    frames: &mut (impl Stream<Item = (Scope, Frame)> + Unpin),
    number: u128,
    bytes: usize,
) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        let (at, frame) = soon(frames.next()).await.unwrap();
        assert_eq!(at, scope());
        if frame.conversation_id == conversation(number) {
            assert_eq!(frame.offset, text.len() as u64);
            text.push_str(frame.text());
        }
    }
    text
}

#[tokio::test]
async fn frames_arrive_whole_and_in_order_and_a_newcomer_gets_the_text_so_far() {
    let world = World::new().await;
    let publisher = LivePublisher::start(&world.bus);
    let mut frames = Box::pin(live::follow(&world.bus).await.unwrap());
    let text = "京都 🦉 ñ ".repeat(100);
    for (one, other) in pieces(3, &text).into_iter().zip(pieces(4, &text)) {
        publisher.send(scope(), one);
        publisher.send(scope(), other);
    }
    publisher.flush(Duration::from_secs(5)).await;
    assert_eq!(shown(&mut frames, 3, text.len()).await, text);
    publisher.send(scope(), frame(4, text.len() as u64, FrameKind::TextDelta { text: "end".to_owned() }));
    while soon(frames.next()).await.unwrap().1.text() != "end" {}
    let text = text + "end";

    let so_far = live::recent(&world.bus, scope(), conversation(4), None).await.unwrap();
    assert_eq!(so_far, [frame(4, 0, FrameKind::TextDelta { text })]);
    assert_eq!(live::recent(&world.bus, scope(), conversation(5), None).await.unwrap(), []);
    let later = Utc::now() + chrono::Duration::hours(1);
    assert_eq!(live::recent(&world.bus, scope(), conversation(4), Some(later)).await.unwrap(), []);
    let earlier = Utc::now() - chrono::Duration::hours(1);
    assert_eq!(live::recent(&world.bus, scope(), conversation(4), Some(earlier)).await.unwrap(), so_far);
    assert_eq!(publisher.dropped(), 0);
    world.end().await;
}

#[tokio::test]
async fn a_tools_two_channels_stay_apart_and_a_long_text_is_cut() {
    let world = World::new().await;
    let publisher = LivePublisher::start(&world.bus);
    let call_id = Uuid::from_u128(8).into();
    let output = |channel, text: &str| FrameKind::ToolCallOutput { call_id, channel, text: text.to_owned() };
    let long = "x".repeat(3 << 20);
    let mut frames = Box::pin(live::follow(&world.bus).await.unwrap());
    publisher.send(scope(), frame(3, 0, output(Channel::Stdout, &long)));
    publisher.send(scope(), frame(3, 0, output(Channel::Stderr, "warning")));
    publisher.send(scope(), frame(3, long.len() as u64, output(Channel::Stdout, "end")));
    while soon(frames.next()).await.unwrap().1.text() != "end" {}

    let expected = [
        frame(3, 0, output(Channel::Stdout, &long)),
        frame(3, 0, output(Channel::Stderr, "warning")),
        frame(3, long.len() as u64, output(Channel::Stdout, "end")),
    ];
    assert_eq!(live::recent(&world.bus, scope(), conversation(3), None).await.unwrap(), expected);
    world.end().await;
}
