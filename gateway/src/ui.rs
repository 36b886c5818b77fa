//! The chat page: files that `make ui` built, inside the program when it is released, read from their folder while it is
//! developed. Addresses within the page are its own matter: whoever asks for a page at one that is no route gets it.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http::HeaderName;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::{Problem, UNKNOWN_ROUTE};

#[derive(RustEmbed)]
#[folder = "ui/dist"]
struct Files;

const PAGE: &str = "index.html";
/// Files here have a digest of their content in their names.
const FOREVER: &str = "assets/";
/// What was built beside each file, in the order in which it is preferred.
const ENCODINGS: &[(&str, &str)] = &[("br", ".br"), ("gzip", ".gz")];
/// Names under which programs ask: they are never the page's.
const PROGRAMS: &[&str] = &["v1/", "docs/"];

/// Its own scripts and nobody else's, calls to its own server alone, and no other page around it. Styles that components
/// set themselves are inline; a style runs nothing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page, the page itself, or that there is no such route.
pub(crate) async fn serve(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let found = if is_read { find(path, request.headers()) } else { None };
    match found {
        Some((name, file)) => answer(name, file, request.headers()),
        None => unknown_route(request.uri().path()).into_response(),
    }
}

/// The file with this name, or the page: at its own address, and for a browser that wants to show one.
fn find<'a>(path: &'a str, headers: &HeaderMap) -> Option<(&'a str, EmbeddedFile)> {
    let is_hidden = path.is_empty() || path.starts_with('.');
    if let Some(file) = (!is_hidden).then(|| Files::get(path)).flatten() {
        return Some((path, file));
    }
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let is_programs = PROGRAMS.iter().any(|prefix| path.starts_with(prefix));
    let wants_page = path.is_empty() || accepts(headers, &header::ACCEPT, "text/html");
    if is_file || is_programs || !wants_page {
        return None;
    }
    Files::get(PAGE).map(|page| (PAGE, page))
}

fn answer(name: &str, whole: EmbeddedFile, asked: &HeaderMap) -> Response {
    let media = media(name);
    let packed = ENCODINGS.iter().find_map(|(encoding, suffix)| {
        let file = accepts(asked, &header::ACCEPT_ENCODING, encoding)
            .then(|| Files::get(&format!("{name}{suffix}")));
        Some((*encoding, file.flatten()?))
    });
    let (encoding, file) = packed.map_or((None, whole), |(encoding, file)| (Some(encoding), file));
    let tag = format!("\"{}\"", hex(&file.metadata.sha256_hash()));
    let cache = if name.starts_with(FOREVER) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let fresh = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());

    let mut response =
        if fresh { StatusCode::NOT_MODIFIED.into_response() } else { file.data.into_owned().into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if name == PAGE {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(
            HeaderName::from_static("permissions-policy"),
            HeaderValue::from_static("camera=(), geolocation=(), microphone=()"),
        );
    }
    response
}

/// Whether a list in a header has this member; weights are not looked at, a `q=0` aside.
fn accepts(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|member| {
        let (value, weight) = member.split_once(';').unwrap_or((member, ""));
        value.trim().eq_ignore_ascii_case(wanted) && weight.trim() != "q=0"
    })
}

fn media(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some(_) | None => "application/octet-stream",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unknown_route(path: &str) -> Problem {
    let detail = if path == "/" && Files::get(PAGE).is_none() {
        "this gateway was built without its page: `make ui` builds it, /docs lists the API".to_owned()
    } else {
        format!("there is no route `{path}`: /docs lists them all")
    };
    Problem::new(UNKNOWN_ROUTE, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(accept: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))])
    }

    #[test]
    fn the_page_is_for_browsers_and_never_in_the_way_of_programs() {
        let browser = asking("text/html,application/xhtml+xml;q=0.9");
        for path in ["v1/nothing", "docs/nothing", "assets/gone.js", "favicon.ico"] {
            assert!(find(path, &browser).is_none(), "{path}");
        }
        assert!(find("c/some-id", &asking("*/*")).is_none());
        assert!(find(".gitkeep", &asking("*/*")).is_none());
    }

    #[test]
    fn a_list_in_a_header_is_read_member_by_member() {
        let headers = HeaderMap::from_iter([(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("gzip, br;q=0, zstd;q=0.5"),
        )]);
        let takes = |encoding| accepts(&headers, &header::ACCEPT_ENCODING, encoding);
        assert!(takes("gzip") && takes("zstd") && !takes("br") && !takes("deflate"));
    }
}
