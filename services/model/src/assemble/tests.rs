use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::Arguments;

/// The outcome of an answer made of these tool-call pieces, one a chunk: (name, arguments) of each call.
fn calls_of(pieces: &[Value]) -> Result<Vec<(String, Value)>, ErrorCode> {
    finished(pieces, "tool_calls").map(|answer| {
        let plain = |call: crate::Call| match call.arguments {
            Arguments::Object(object) => (call.name, Value::Object(object)),
            Arguments::Invalid { raw, .. } => (call.name, json!({"invalid": raw})),
        };
        answer.calls.into_iter().map(plain).collect()
    })
}

fn finished(pieces: &[Value], finish: &str) -> Result<Completion, ErrorCode> {
    let mut answer = Assembler::default();
    let deltas = pieces.iter().map(|piece| json!({"delta": {"tool_calls": [piece]}}));
    for choice in deltas.chain([json!({"delta": {}, "finish_reason": finish})]) {
        let chunk = Chunk::read(&json!({"id": "chatcmpl-7", "choices": [choice]}));
        answer.push(chunk, &mut |_| {}).map_err(|error| error.code)?;
    }
    answer.finish().map_err(|error| error.code)
}

/// `id`, `name` and `index` are left out when empty or negative.
fn piece(index: i64, id: &str, name: &str, arguments: &str) -> Value {
    let mut piece = json!({"function": {"arguments": arguments}});
    if index >= 0 {
        piece["index"] = json!(index);
    }
    if !id.is_empty() {
        piece["id"] = json!(id);
    }
    if !name.is_empty() {
        piece["function"]["name"] = json!(name);
    }
    piece
}

fn named(calls: &[(&str, Value)]) -> Result<Vec<(String, Value)>, ErrorCode> {
    Ok(calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect())
}

#[test]
fn f01_two_calls_without_index() {
    let both = named(&[("f", json!({"a": 1})), ("g", json!({"b": 2}))]);
    let in_pieces = [
        piece(-1, "x", "f", ""),
        piece(-1, "", "", r#"{"a""#),
        piece(-1, "", "", ":1}"),
        piece(-1, "y", "g", ""),
        piece(-1, "", "", r#"{"b":2}"#),
    ];
    assert_eq!(calls_of(&in_pieces), both);
    let whole = [piece(-1, "", "f", r#"{"a":1}"#), piece(-1, "", "g", r#"{"b":2}"#)];
    assert_eq!(calls_of(&whole), both);
    let same_tool = [piece(-1, "", "f", r#"{"a":1}"#), piece(-1, "", "f", r#"{"a":1}"#)];
    assert_eq!(calls_of(&same_tool), named(&[("f", json!({"a": 1})), ("f", json!({"a": 1}))]));
}

#[test]
fn f01_both_at_index_zero_with_different_ids() {
    let both = named(&[("f", json!({"a": 1})), ("g", json!({"b": 2}))]);
    let whole = [piece(0, "x", "f", r#"{"a":1}"#), piece(0, "y", "g", r#"{"b":2}"#)];
    assert_eq!(calls_of(&whole), both);
    let in_pieces = [
        piece(0, "x", "f", ""),
        piece(0, "", "", r#"{"a":1}"#),
        piece(0, "y", "g", r#"{"b""#),
        piece(0, "", "", ":2}"),
    ];
    assert_eq!(calls_of(&in_pieces), both);
}

#[test]
fn f01_later_pieces_at_another_index() {
    let moved = [piece(0, "x", "f", ""), piece(1, "", "", r#"{"a":"#), piece(1, "", "", "1}")];
    assert_eq!(calls_of(&moved), named(&[("f", json!({"a": 1}))]));
}

#[test]
fn f01_interleaved_with_ids_on_the_openers_only() {
    let interleaved = [
        piece(0, "x", "f", ""),
        piece(1, "y", "g", ""),
        piece(0, "", "", r#"{"a":"#),
        piece(1, "", "", r#"{"b":"#),
        piece(0, "", "", "1}"),
        piece(1, "", "", "2}"),
    ];
    assert_eq!(calls_of(&interleaved), named(&[("f", json!({"a": 1})), ("g", json!({"b": 2}))]));
}

#[test]
fn f01_arguments_before_the_name() {
    let one = [piece(0, "", "", r#"{"a":"#), piece(0, "", "", "1}"), piece(0, "x", "f", "")];
    assert_eq!(calls_of(&one), named(&[("f", json!({"a": 1}))]));
    let two = [
        piece(-1, "", "", r#"{"a":1}"#),
        piece(-1, "x", "f", ""),
        piece(-1, "", "", r#"{"b":2}"#),
        piece(-1, "y", "g", ""),
    ];
    assert_eq!(calls_of(&two), named(&[("f", json!({"a": 1})), ("g", json!({"b": 2}))]));
    let id_alone = [piece(0, "x", "", r#"{"a":1}"#), piece(0, "x", "f", "")];
    assert_eq!(calls_of(&id_alone), named(&[("f", json!({"a": 1}))]));
}

#[test]
fn f01_repeated_id_or_name_is_one_call() {
    let repeated = [piece(0, "x", "f", ""), piece(0, "x", "f", r#"{"a":"#), piece(0, "x", "f", "1}")];
    assert_eq!(calls_of(&repeated), named(&[("f", json!({"a": 1}))]));
    let name_only = [
        piece(0, "", "f", ""),
        piece(0, "", "f", r#"{"a":1"#),
        piece(0, "", "f", "}"),
        piece(0, "", "f", ""),
    ];
    assert_eq!(calls_of(&name_only), named(&[("f", json!({"a": 1}))]));
    let sent_again = [piece(0, "x", "f", r#"{"a":1}"#), piece(0, "x", "f", r#"{"a":1}"#)];
    assert_eq!(calls_of(&sent_again), named(&[("f", json!({"a": 1}))]));
}

#[test]
fn f01_one_id_for_all_calls_becomes_two_ids() {
    let calls =
        finished(&[piece(0, "x", "f", "{}"), piece(1, "x", "f", r#"{"b":2}"#)], "tool_calls").unwrap().calls;
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["x", "call_chatcmpl7_1"]);
}

#[test]
fn f01_ambiguous_is_an_error() {
    let no_index = [piece(-1, "x", "f", ""), piece(-1, "y", "g", ""), piece(-1, "", "", r#"{"a":1}"#)];
    let same_index = [piece(0, "x", "f", ""), piece(0, "y", "g", ""), piece(0, "", "", r#"{"a":1}"#)];
    let unknown_index = [piece(0, "x", "f", ""), piece(1, "y", "g", ""), piece(2, "", "", r#"{"a":1}"#)];
    let taken_index = [piece(0, "x", "f", ""), piece(1, "", "", r#"{"a":1}"#), piece(1, "y", "g", "")];
    let one_id = [piece(0, "x", "f", r#"{"a":"#), piece(0, "x", "g", "1}")];
    let nameless = [piece(0, "x", "", r#"{"a":1}"#)];
    let left_over = [piece(0, "x", "f", r#"{"a":1}"#), piece(0, "", "", r#"{"b":2}"#)];
    let named_twice = [piece(-1, "", "f", ""), piece(-1, "", "f", "")];
    for pieces in [
        &no_index[..],
        &same_index,
        &unknown_index,
        &taken_index,
        &one_id,
        &nameless,
        &left_over,
        &named_twice,
    ] {
        assert_eq!(calls_of(pieces), Err(ErrorCode::Malformed), "{pieces:?}");
    }
}

#[test]
fn f02_empty_arguments_are_an_empty_object() {
    for blank in ["", "  ", "\n"] {
        assert_eq!(calls_of(&[piece(0, "x", "f", blank)]), named(&[("f", json!({}))]), "{blank:?}");
    }
    let none = json!({"index": 0, "id": "x", "function": {"name": "f"}});
    assert_eq!(calls_of(&[none]), named(&[("f", json!({}))]));
    let object = json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": {"a": 1}}});
    assert_eq!(calls_of(&[object]), named(&[("f", json!({"a": 1}))]));
}

#[test]
fn f02_unusable_arguments_do_not_run() {
    for raw in [r#"{"a": "#, "[1]", "null", "7", r#""{}""#, r#"{"a":1}{"b":2}"#, "{a: 1}"] {
        let answer = finished(&[piece(0, "x", "f", raw)], "tool_calls").unwrap();
        assert!(
            matches!(&answer.calls[0].arguments, Arguments::Invalid { raw: kept, .. } if kept == raw),
            "{raw}"
        );
        assert_eq!(answer.calls[0].arguments.to_json(), "{}");
    }
}

#[test]
fn f02_no_call_of_a_cut_answer_runs() {
    for finish in ["length", "content_filter"] {
        let pieces = [piece(0, "x", "f", r#"{"a":1}"#), piece(1, "y", "g", r#"{"b":"#)];
        let calls = finished(&pieces, finish).unwrap().calls;
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|call| matches!(call.arguments, Arguments::Invalid { .. })), "{finish}");
    }
}

#[test]
fn too_many_calls_and_too_much_text_are_refused() {
    let many: Vec<Value> = (0..200).map(|at| piece(at, &format!("id{at}"), "f", "{}")).collect();
    assert_eq!(calls_of(&many), Err(ErrorCode::TooLarge));
    let long = "x".repeat(OUTPUT_LIMIT / 2);
    let pieces = [piece(0, "x", "f", &long), piece(0, "", "", &long), piece(0, "", "", "x")];
    assert_eq!(calls_of(&pieces), Err(ErrorCode::TooLarge));
}

proptest! {
    /// However a provider cuts two parallel calls into pieces, they come out as they were.
    #[test]
    fn any_cut_of_two_calls_gives_both(cuts in proptest::collection::vec((any::<bool>(), 1usize..7), 0..30)) {
        let texts = [r#"{"q":"京都 🦉 \"ñ\" }"}"#, r#"{"n":[1,{"m":2}]}"#];
        let mut rest = texts;
        let mut pieces = vec![piece(0, "x", "f", ""), piece(1, "y", "g", "")];
        for (second, size) in cuts.into_iter().chain([(false, 99), (true, 99)]) {
            let at = usize::from(second);
            let end = rest[at].char_indices().nth(size).map_or(rest[at].len(), |(end, _)| end);
            let (head, tail) = rest[at].split_at(end);
            pieces.push(piece(i64::from(second), "", "", head));
            rest[at] = tail;
        }
        let wanted = texts.map(|text| serde_json::from_str::<Value>(text).unwrap());
        let [first, second] = wanted;
        prop_assert_eq!(calls_of(&pieces), named(&[("f", first), ("g", second)]));
    }
}
