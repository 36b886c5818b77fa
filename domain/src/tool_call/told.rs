//! What the model is told of a call's end.

use super::{CallError, Refused, SettledAs, ToolCallEvent};
use crate::body::Body;
use crate::ids::UserId;

/// Bytes of a large result's beginning that the model is shown.
const HEAD: usize = 12 * 1024;
/// Bytes of its end.
const TAIL: usize = 4 * 1024;

/// Head, tail and a note of a large result.
pub fn excerpt(text: &str, digest: &str) -> String {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..];
    let left_out = text.len() - head.len() - tail.len();
    format!(
        "{head}\n[… {left_out} of {} bytes are left out here; the whole result is stored as object {digest} …]\n{tail}",
        text.len()
    )
}

/// The text for the model; `None` for what is no end.
pub(super) fn told(event: &ToolCallEvent, settled: Option<(SettledAs, UserId)>) -> Option<String> {
    let by_person = matches!(settled, Some((SettledAs::Done | SettledAs::NotDone, _)));
    let whole = plain(event)?;
    let is_end = matches!(event, ToolCallEvent::Completed { .. } | ToolCallEvent::Failed { .. });
    Some(if by_person && is_end {
        format!("The outcome of this call was unknown; a person looked and settled it. {whole}")
    } else {
        whole
    })
}

fn plain(event: &ToolCallEvent) -> Option<String> {
    match event {
        ToolCallEvent::Requested { .. }
        | ToolCallEvent::Held { .. }
        | ToolCallEvent::Cleared { .. }
        | ToolCallEvent::Settled { outcome: SettledAs::Done | SettledAs::NotDone, .. }
        | ToolCallEvent::Started { .. } => None,
        ToolCallEvent::Settled { outcome: SettledAs::RunAgain, .. } => Some(
            "The outcome of this call was unknown, and a person decided that it runs again. Its result is not there yet."
                .to_owned(),
        ),
        ToolCallEvent::Completed { output, excerpt, .. } => Some(match (output, excerpt) {
            (Body::Inline(value), _) => value.to_string(),
            (Body::Stored { .. }, Some(excerpt)) => excerpt.clone(),
            (Body::Stored { preview, .. }, None) => preview.clone(),
        }),
        ToolCallEvent::Failed { error, .. } => Some(failure(error)),
        ToolCallEvent::Cancelled { reason, .. } => Some(format!("This call was cancelled: {reason}")),
        ToolCallEvent::Denied { refused, .. } => Some(refusal(refused)),
        ToolCallEvent::InDoubt { reason, .. } => Some(format!(
            "The outcome of this call is unknown: {reason}. It may or may not have happened. \
             Do not assume either, and do not repeat it without asking the person."
        )),
    }
}

fn failure(error: &CallError) -> String {
    let mut text = format!("This call failed ({}): {}", error.code, error.message);
    for flaw in &error.flaws {
        let place = if flaw.pointer.is_empty() { "the input" } else { flaw.pointer.as_str() };
        text.push_str(&format!("\n- {place}: {}", flaw.expected));
    }
    text
}

fn refusal(refused: &Refused) -> String {
    match refused {
        Refused::Policy { reason } => format!("This call was denied by the workspace's policy: {reason}"),
        Refused::Person { note: Some(note), .. } => format!("A person refused this call and said: {note}"),
        Refused::Person { note: None, .. } => "A person refused this call and gave no reason.".to_owned(),
        Refused::Expiry => "Nobody answered the approval of this call in time, so it did not run.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_never_cuts_a_character_and_says_what_is_left_out() {
        let text = "🦉".repeat(20_000);
        let short = excerpt(&text, "abc");
        assert!(
            short.len() < 20_000
                && short.contains("of 80000 bytes are left out")
                && short.contains("object abc")
        );
        assert!(short.starts_with('🦉') && short.ends_with('🦉'));
    }
}
