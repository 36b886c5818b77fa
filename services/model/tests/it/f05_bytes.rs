use oxagen_model::{Arguments, Usage};
use oxagen_scripted_model::{Reply, Slice};
use serde_json::json;

use crate::desk::{Desk, piece, stream};

const TEXT: &str = "京都 🦉 ñ";

fn odd_stream() -> String {
    let text = json!({"choices": [{"delta": {"content": TEXT}}]});
    let call = json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": json!({"q": TEXT}).to_string()}});
    let call = json!({"choices": [{"delta": piece(call)}]});
    [
        "\u{feff}: hello\r\n\r\n".to_owned(),
        format!("data:{text}\r\n\r\n"),
        ": still here\r\n".to_owned(),
        format!("id: 7\r\nevent: message\r\ndata: {call}\r\n\r\n"),
        "data: {\"choices\":[{\"delta\":{},\r\n: between\r\ndata:  \"finish_reason\":\"tool_calls\"}]}\r\n\r\n".to_owned(),
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5,\"total_tokens\":12}}\r\n\r\n"
            .to_owned(),
        "data: [DONE]\r\n\r\n".to_owned(),
    ]
    .concat()
}

#[tokio::test]
async fn f05_one_byte_a_write() {
    for ends in ["\r\n", "\n", "\r"] {
        let reply = Reply { bytes_per_write: 1, ..Reply::raw(odd_stream().replace("\r\n", ends)) };
        let answer = Desk::new(reply).await.ask().await.unwrap();
        assert_eq!(answer.text, TEXT);
        let wanted = json!({"q": TEXT}).as_object().cloned().unwrap();
        assert_eq!(answer.calls[0].arguments, Arguments::Object(wanted), "{ends:?}");
        assert_eq!(answer.usage.total_tokens, 12);
    }
}

#[tokio::test]
async fn f05_cr_and_lf_in_separate_writes() {
    let halves = odd_stream();
    let slices = halves.split_inclusive('\r').map(|text| Slice {
        text: Some(text.to_owned()),
        delay_ms: 1,
        ..Slice::default()
    });
    let reply = Reply { raw: Some(slices.collect()), ..Reply::default() };
    assert_eq!(Desk::new(reply).await.ask().await.unwrap().text, TEXT);
}

#[tokio::test]
async fn f05_usage_without_choices() {
    let usage = "data: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4,\
        \"prompt_tokens_details\":{\"cached_tokens\":2},\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n";
    let body =
        stream(&[json!({"content": "a"})], "stop").replace("data: [DONE]", &format!("{usage}data: [DONE]"));
    let answer = Desk::new(Reply::raw(body)).await.ask().await.unwrap();
    let wanted = Usage {
        input_tokens: 3,
        output_tokens: 4,
        total_tokens: 7,
        cached_tokens: Some(2),
        reasoning_tokens: Some(1),
    };
    assert_eq!(answer.usage, wanted);
}

#[tokio::test]
async fn f05_an_end_without_done_or_last_line_end_is_whole() {
    let whole = stream(&[json!({"content": TEXT})], "stop");
    let (without_done, _) = whole.split_once("\n\ndata: [DONE]").unwrap();
    assert_eq!(Desk::new(Reply::raw(without_done)).await.ask().await.unwrap().text, TEXT);
}
