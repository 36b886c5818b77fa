//! Patterns over names and texts: `*` stands for any characters, also none, `?` for exactly one.

/// Whether the whole of `text` fits the pattern. Takes time in proportion to both lengths.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    // Where the last `*` stands, and how far the text went when it took over.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[from] => {
                at += 1;
                from += 1;
            }
            Some(_) | None => match star {
                // The last `*` takes in one character more.
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, from) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
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
