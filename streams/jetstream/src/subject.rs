//! Subjects: who a message concerns. Identifiers of single things travel in headers instead, because a server
//! with a hundred thousand subjects needs five times the memory for filtered reads.

use oxagen_domain::{ConversationId, Scope};

/// A fact's type that cannot be part of a subject.
#[derive(Debug, thiserror::Error)]
#[error("`{kind}` is not a fact's type of the form `<aggregate>.<event>`")]
pub struct BadKind {
    /// The type given.
    pub kind: String,
}

/// `fact.<tenant>.<workspace>.<aggregate>.<event>`.
///
/// # Errors
/// [`BadKind`] when `kind` is not two words of lower-case letters, digits and `_` with a dot between.
pub fn fact(prefix: &str, scope: Scope, kind: &str) -> Result<String, BadKind> {
    let word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    match kind.split_once('.') {
        Some((aggregate, event)) if word(aggregate) && word(event) => {
            Ok(format!("{prefix}fact.{}.{}.{kind}", scope.tenant, scope.workspace))
        }
        _ => Err(BadKind { kind: kind.to_owned() }),
    }
}

/// `live.<tenant>.<workspace>.<conversation>`.
pub fn live(prefix: &str, scope: Scope, conversation: ConversationId) -> String {
    format!("{prefix}live.{}.{}.{conversation}", scope.tenant, scope.workspace)
}

/// Reads a fact's subject: its scope and its type.
pub fn parse_fact(prefix: &str, subject: &str) -> Option<(Scope, String)> {
    let (scope, kind) = parse(prefix, "fact.", subject)?;
    kind.contains('.').then(|| (scope, kind.to_owned()))
}

/// Reads a live frame's subject: its scope and its conversation.
pub fn parse_live(prefix: &str, subject: &str) -> Option<(Scope, ConversationId)> {
    let (scope, conversation) = parse(prefix, "live.", subject)?;
    Some((scope, conversation.parse().ok()?))
}

fn parse<'a>(prefix: &str, family: &str, subject: &'a str) -> Option<(Scope, &'a str)> {
    let rest = subject.strip_prefix(prefix)?.strip_prefix(family)?;
    let mut parts = rest.splitn(3, '.');
    let scope = Scope { tenant: parts.next()?.parse().ok()?, workspace: parts.next()?.parse().ok()? };
    Some((scope, parts.next()?))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn scope() -> Scope {
        Scope { tenant: Uuid::from_u128(1).into(), workspace: Uuid::from_u128(2).into() }
    }

    #[test]
    fn subjects_are_read_back() {
        let subject = fact("x_", scope(), "tool_call.completed").unwrap();
        assert_eq!(parse_fact("x_", &subject), Some((scope(), "tool_call.completed".to_owned())));
        let conversation = Uuid::from_u128(3).into();
        let subject = live("", scope(), conversation);
        assert_eq!(parse_live("", &subject), Some((scope(), conversation)));
        assert_eq!(parse_fact("", &subject), None);
    }

    #[test]
    fn a_type_with_wildcards_or_a_third_word_is_refused() {
        for kind in ["turn", "turn.", "turn.*", "turn.a.b", "turn.>", "tu rn.a", ""] {
            assert!(fact("", scope(), kind).is_err(), "{kind}");
        }
    }
}
