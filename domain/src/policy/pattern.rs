//! Patterns over names and texts: `*` stands for any characters, also none, `?` for exactly one.

/// Whether the whole of `text` fits the pattern. Takes time in proportion to both lengths, and no memory.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last `*`, and the text from which on that one takes in characters.
    let mut star = None;
    loop {
        let (mut pattern_on, mut text_on) = (pattern.clone(), text.clone());
        match (pattern_on.next(), text_on.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((pattern_on.clone(), text.clone()));
                pattern = pattern_on;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                (pattern, text) = (pattern_on, text_on);
            }
            (Some(_), None) => return false,
            (Some(_) | None, Some(_)) => {
                let Some((after, taken)) = &mut star else { return false };
                // The last `*` takes in one character more.
                taken.next();
                (pattern, text) = (after.clone(), taken.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fits;

    #[test]
    fn a_star_takes_in_anything_and_a_mark_one_character() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a.b"),
            ("agent.*", "agent.code.execute"),
            ("a?c*", "abcd"),
            ("*é", "café"),
            ("", ""),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("agent.*", "mcp.files.read"), ("a?c", "ac"), ("", "a"), ("agent.code", "agent.code.execute")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    /// The definition, which takes exponential time.
    fn defined(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| defined(rest, &text[taken..])),
            Some((c, rest)) => text
                .split_first()
                .is_some_and(|(first, left)| (*c == '?' || c == first) && defined(rest, left)),
        }
    }

    proptest! {
        #[test]
        fn it_is_what_is_defined(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &text), defined(&chars(&pattern), &chars(&text)));
        }
    }
}
