//! Every stable error code of the HTTP API, with its status and its page in `docs/errors/`.

/// A stable error code. Its page says what it means and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The code on the wire.
    pub code: &'static str,
    /// The HTTP status that goes with it.
    pub status: u16,
    /// One short sentence, the same for every occurrence.
    pub title: &'static str,
    /// The text of its page, Markdown.
    pub page: &'static str,
}

macro_rules! kinds {
    ($($name:ident $code:literal $status:literal $title:literal;)+) => {
        $(
            #[doc = $title]
            pub(crate) const $name: &Kind = &Kind {
                code: $code,
                status: $status,
                title: $title,
                page: include_str!(concat!("../../../docs/errors/", $code, ".md")),
            };
        )+

        /// Every code, by its name here.
        pub const KINDS: &[&Kind] = &[$($name),+];
    };
}

kinds! {
    INVALID_JSON "invalid_json" 400 "The body is not JSON";
    UNAUTHORIZED "unauthorized" 401 "A valid key is needed";
    FORBIDDEN "forbidden" 403 "The key may not do this";
    DENIED_BY_POLICY "denied_by_policy" 403 "The workspace's policy denies it";
    HOST_NOT_ALLOWED "host_not_allowed" 403 "This host name is not served";
    ORIGIN_NOT_ALLOWED "origin_not_allowed" 403 "This origin may not call";
    NOT_FOUND "not_found" 404 "There is no such thing in this workspace";
    UNKNOWN_ROUTE "unknown_route" 404 "There is no such route";
    METHOD_NOT_ALLOWED "method_not_allowed" 405 "This route has no such method";
    CONFLICT "conflict" 409 "Somebody else changed the same thing";
    CONVERSATION_BUSY "conversation_busy" 409 "A turn runs in this conversation";
    CONVERSATION_ARCHIVED "conversation_archived" 409 "The conversation takes no more messages";
    TURN_ENDED "turn_ended" 409 "The turn has ended";
    CALL_ENDED "call_ended" 409 "The call has ended";
    APPROVAL_CLOSED "approval_closed" 409 "The approval is closed";
    PLAN_CLOSED "plan_closed" 409 "The plan wants no answer any more";
    IDEMPOTENCY_KEY_REUSED "idempotency_key_reused" 409 "The idempotency key came with another request";
    TOO_LARGE "too_large" 413 "The request is too large";
    UNSUPPORTED_MEDIA_TYPE "unsupported_media_type" 415 "The body has the wrong content type";
    INVALID_INPUT "invalid_input" 422 "The input does not fit";
    UNKNOWN_CAPABILITY "unknown_capability" 422 "There is no such capability";
    RATE_LIMITED "rate_limited" 429 "Too many requests";
    TOO_MANY_AT_ONCE "too_many_at_once" 429 "Too many requests at once";
    TOO_MANY_REQUESTS "too_many_requests" 429 "Too many requests wait already";
    INTERNAL "internal" 500 "The runtime failed";
    UNAVAILABLE "unavailable" 503 "A server that is needed does not answer";
    TIMEOUT "timeout" 503 "It took too long";
    OUTCOME_UNKNOWN "outcome_unknown" 503 "Whether it was done is unknown";
}

macro_rules! results {
    ($($code:literal)+) => {
        /// Codes with which turns and calls end, and their pages: no request was refused, so no status goes with them.
        pub(crate) const RESULTS: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),+];
    };
}

results! {
    "model_unreachable"
    "model_timeout"
    "model_rate_limited"
    "model_unauthorized"
    "model_bad_request"
    "model_provider_error"
    "model_stream_cut"
    "model_malformed"
    "model_too_large"
    "model_interrupted"
    "budget_steps"
    "budget_tool_calls"
    "budget_wall_seconds"
    "budget_tokens"
    "unknown_tool"
    "denied_by_person"
    "settled_not_done"
    "approval_expired"
    "sandbox_failed"
    "not_runnable"
    "in_doubt"
    "cancelled"
}

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    let refusal = KINDS.iter().find(|kind| kind.code == code).map(|kind| kind.page);
    refusal.or_else(|| RESULTS.iter().find(|(name, _)| *name == code).map(|(_, page)| *page))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_every_page_says_what_to_do() {
        let refusals = KINDS.iter().map(|kind| (kind.code, kind.page));
        let pages: Vec<_> = refusals.chain(RESULTS.iter().copied()).collect();
        let codes: BTreeSet<_> = pages.iter().map(|(code, _)| code).collect();
        assert_eq!(codes.len(), pages.len());
        for (code, page) in &pages {
            assert!(page.starts_with(&format!("# {code}\n")) && page.contains("## What to do"), "{code}");
        }
    }
}
