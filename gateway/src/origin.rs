//! Refuses requests that a foreign page made in somebody's browser: by `Host` and by `Origin`.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, Uri, header};

use crate::error::{HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, Problem};
use crate::options::Options;
use crate::state::App;

/// Probes come by address, not by name, and learn nothing but yes or no.
const PROBES: &[&str] = &["/healthz", "/readyz"];

/// Lets a request through when its host and its origin are known.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Result<Response, Problem> {
    if !PROBES.contains(&request.uri().path()) {
        known(app.options(), request.uri(), request.headers())?;
    }
    Ok(next.run(request).await)
}

fn known(options: &Options, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text(header::HOST));
    let name = host.map(without_port).unwrap_or_default();
    if !options.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)) {
        let detail =
            format!("this gateway does not answer to `{name}`: add it to the allowed hosts to serve it");
        return Err(Problem::new(HOST_NOT_ALLOWED, detail));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let own = host.is_some_and(|host| {
        origin.split_once("://").is_some_and(|(scheme, rest)| {
            (scheme == "http" || scheme == "https") && rest.eq_ignore_ascii_case(host)
        })
    });
    if own || options.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) {
        return Ok(());
    }
    let detail = format!("pages of `{origin}` may not call: add it to the allowed origins to let them");
    Err(Problem::new(ORIGIN_NOT_ALLOWED, detail))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn verdict(host: &'static str, origin: Option<&'static str>) -> Result<(), &'static str> {
        let options =
            Options { allowed_origins: vec!["https://app.example".to_owned()], ..Options::default() };
        let mut headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
        headers.extend(origin.map(|origin| (header::ORIGIN, HeaderValue::from_static(origin))));
        known(&options, &Uri::from_static("/v1/me"), &headers).map_err(|problem| problem.code())
    }

    #[test]
    fn only_known_names_are_served() {
        assert_eq!(verdict("127.0.0.1:8080", None), Ok(()));
        assert_eq!(verdict("LOCALHOST", None), Ok(()));
        assert_eq!(verdict("[::1]:80", None), Ok(()));
        assert_eq!(verdict("rebound.example:8080", None), Err("host_not_allowed"));
        assert_eq!(verdict("", None), Err("host_not_allowed"));
    }

    #[test]
    fn a_page_calls_its_own_server_or_is_listed() {
        assert_eq!(verdict("localhost:8080", Some("http://localhost:8080")), Ok(()));
        assert_eq!(verdict("localhost:8080", Some("https://app.example")), Ok(()));
        assert_eq!(verdict("localhost:8080", Some("http://localhost:9090")), Err("origin_not_allowed"));
        assert_eq!(verdict("localhost:8080", Some("null")), Err("origin_not_allowed"));
    }
}
