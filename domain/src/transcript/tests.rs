use super::excerpt;

#[test]
fn an_excerpt_never_cuts_a_character_and_says_what_is_left_out() {
    let text = "🦉".repeat(20_000);
    let short = excerpt(&text, "abc");
    assert!(short.len() < 20_000 && short.contains("of 80000 bytes are left out") && short.contains("object abc"));
    assert!(short.starts_with('🦉') && short.ends_with('🦉'));
}
