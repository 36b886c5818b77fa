//! Turns a provider's many ways of saying no into one [`ModelError`].

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::{ErrorCode, ModelError};

/// Characters of a provider's own words that we pass on.
const WORDS_LIMIT: usize = 600;

/// A refusal by HTTP status, whatever its body is made of.
pub(crate) fn refused(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let parsed = serde_json::from_str::<Value>(body).ok();
    let error = parsed.as_ref().map(|value| value.get("error").unwrap_or(value));
    let words = error.map_or_else(|| trimmed(body), words);
    let retry_after = retry_after(headers);
    let failure = match status {
        300..=399 => {
            let to = headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            let to = to.split(['?', '#']).next().unwrap_or_default();
            let message = format!("the model provider redirects to {to}; set that address as the model URL");
            ModelError::new(ErrorCode::BadRequest, message)
        }
        401 | 403 => {
            let message = format!("the model provider refused the key ({status}): {words}");
            ModelError::new(ErrorCode::Unauthorized, message)
        }
        408 => {
            ModelError::new(ErrorCode::Timeout, format!("the model provider gave up waiting (408): {words}"))
        }
        429 => rate_limited(error, retry_after, &words),
        400..=499 => ModelError::new(
            ErrorCode::BadRequest,
            format!("the model provider refused the request ({status}): {words}"),
        ),
        _ => ModelError::new(ErrorCode::Provider, format!("the model provider failed ({status}): {words}")),
    };
    failure.with_status(status)
}

/// An error that came inside an answer whose status was 200: an object, or bare words.
pub(crate) fn reported(error: &Value) -> ModelError {
    let words = words(error);
    let code = error["code"].as_u64().or_else(|| error["code"].as_str().and_then(|code| code.parse().ok()));
    let named = |names: &[&str]| {
        [&error["code"], &error["type"]]
            .iter()
            .any(|field| field.as_str().is_some_and(|name| names.contains(&name)))
    };
    match code {
        Some(429) => rate_limited(Some(error), None, &words),
        _ if named(&["rate_limit_exceeded", "rate_limit_error", "insufficient_quota"]) => {
            rate_limited(Some(error), None, &words)
        }
        Some(401 | 403) => unauthorized(&words),
        _ if named(&["invalid_api_key", "authentication_error", "permission_error"]) => unauthorized(&words),
        Some(400..=499) => bad_request(&words),
        _ if named(&["invalid_request_error", "context_length_exceeded", "BadRequestError"]) => {
            bad_request(&words)
        }
        _ => {
            ModelError::new(ErrorCode::Provider, format!("the model provider failed in mid-answer: {words}"))
        }
    }
}

fn unauthorized(words: &str) -> ModelError {
    ModelError::new(ErrorCode::Unauthorized, format!("the model provider refused the key: {words}"))
}

fn bad_request(words: &str) -> ModelError {
    ModelError::new(ErrorCode::BadRequest, format!("the model provider refused the request: {words}"))
}

/// An empty purse looks like a rate limit but does not pass by waiting.
fn rate_limited(error: Option<&Value>, retry_after: Option<Duration>, words: &str) -> ModelError {
    let message = format!("the model provider limits the rate: {words}");
    let failure = ModelError::new(ErrorCode::RateLimited { retry_after }, message);
    let is_quota =
        |error: &Value| error["code"] == "insufficient_quota" || error["type"] == "insufficient_quota";
    if error.is_some_and(is_quota) { failure.permanent() } else { failure }
}

/// A request that met no answer, or whose answer broke off.
pub(crate) fn transport(error: &reqwest::Error, origin: &str, in_answer: bool) -> ModelError {
    if error.is_timeout() && !error.is_connect() {
        let message = format!("the model provider at {origin} was silent for too long");
        return ModelError::new(ErrorCode::Timeout, message);
    }
    let cause = innermost(error);
    if in_answer {
        let message = format!("the connection to the model provider broke off in mid-answer: {cause}");
        return ModelError::new(ErrorCode::StreamCut, message);
    }
    let message = format!(
        "the model provider at {origin} cannot be reached: {cause}; check the model URL and that it is up"
    );
    ModelError::new(ErrorCode::Unreachable, message)
}

/// The cause says what happened; the outer layers only repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// The stream ended properly, but without saying that the answer is whole.
pub(crate) fn cut() -> ModelError {
    ModelError::new(
        ErrorCode::StreamCut,
        "the model provider closed the connection before its answer was finished",
    )
}

fn words(error: &Value) -> String {
    let message =
        [&error["message"], &error["detail"], &error["error"], error].into_iter().find_map(Value::as_str);
    message.map_or_else(|| trimmed(&error.to_string()), trimmed)
}

fn trimmed(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(WORDS_LIMIT) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None if words.is_empty() => "no reason given".to_owned(),
        None => words,
    }
}

/// Seconds, or milliseconds in the header some providers add; a date is not worth a parser.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_that_is_no_json_keeps_its_status() {
        let error = refused(404, &HeaderMap::new(), "<html>\n  Not\there</html>");
        assert_eq!((error.code, error.status, error.retryable), (ErrorCode::BadRequest, Some(404), false));
        assert!(error.message.ends_with("(404): <html> Not here</html>"), "{error}");
        assert_eq!(refused(502, &HeaderMap::new(), "").code, ErrorCode::Provider);
    }

    #[test]
    fn a_rate_limit_says_how_long() {
        let headers = HeaderMap::from_iter([("retry-after".parse().unwrap(), "7".parse().unwrap())]);
        let error = refused(429, &headers, "slow down");
        assert_eq!(error.code, ErrorCode::RateLimited { retry_after: Some(Duration::from_secs(7)) });
        assert!(error.retryable);
        let empty = json!({"error": {"message": "pay", "code": "insufficient_quota"}}).to_string();
        assert!(!refused(429, &HeaderMap::new(), &empty).retryable);
    }

    #[test]
    fn errors_inside_an_answer_are_sorted() {
        let code = |error: Value| reported(&error).code;
        assert_eq!(code(json!("overloaded")), ErrorCode::Provider);
        assert_eq!(code(json!({"code": 502, "message": "x"})), ErrorCode::Provider);
        assert_eq!(code(json!({"code": "429"})), ErrorCode::RateLimited { retry_after: None });
        assert_eq!(code(json!({"type": "authentication_error"})), ErrorCode::Unauthorized);
        assert_eq!(code(json!({"code": "context_length_exceeded"})), ErrorCode::BadRequest);
        assert!(reported(&json!("overloaded")).message.contains("overloaded"));
    }
}
