//! Where a viewer wants to go on.

use http::HeaderMap;

/// Where a viewer wants to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// After this `seq`; 0 is the beginning.
    After(u64),
    /// Nowhere in this history: negative, or no number.
    Nowhere,
}

impl Cursor {
    /// From `Last-Event-ID`, which a browser sends when it comes back, or else from `?after=`.
    pub(crate) fn read(headers: &HeaderMap, after: Option<&str>) -> Self {
        let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
        match last.or(after).map(str::trim) {
            None | Some("") => Self::After(0),
            Some(text) => text.parse().map_or(Self::Nowhere, Self::After),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_is_no_number_is_nowhere_and_nothing_is_the_beginning() {
        let none = HeaderMap::new();
        assert_eq!(Cursor::read(&none, None), Cursor::After(0));
        assert_eq!(Cursor::read(&none, Some("7")), Cursor::After(7));
        assert_eq!(Cursor::read(&none, Some("-1")), Cursor::Nowhere);
        assert_eq!(Cursor::read(&none, Some("abc")), Cursor::Nowhere);
        assert_eq!(Cursor::read(&none, Some("99999999999999999999999")), Cursor::Nowhere);
    }

    #[test]
    fn a_browser_that_comes_back_knows_better_than_its_address() {
        let headers = HeaderMap::from_iter([(
            http::HeaderName::from_static("last-event-id"),
            HeaderValue::from_static("9"),
        )]);
        assert_eq!(Cursor::read(&headers, Some("3")), Cursor::After(9));
    }
}
