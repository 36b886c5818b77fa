//! Keeps secrets out of what people see.

/// Stands where a secret was.
const MASK: &str = "********";

/// A secret: only whether it is set is told.
pub(crate) fn secret(text: &str) -> String {
    if text.is_empty() { String::new() } else { MASK.to_owned() }
}

/// An address, or several with commas, without passwords and without the values of query parameters that may be keys.
pub(crate) fn address(text: &str) -> String {
    text.split(',').map(one).collect::<Vec<_>>().join(",")
}

fn one(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let end = place.find('/').unwrap_or(place.len());
    let (authority, path) = place.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((login, host)) => match login.split_once(':') {
            Some((user, _)) => format!("{user}:{MASK}@{host}"),
            // `nats://token@host`: the whole login is the secret.
            None if scheme == "nats" || scheme == "tls" => format!("{MASK}@{host}"),
            None => format!("{login}@{host}"),
        },
        None => authority.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        format!("?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{authority}{path}{query}")
}

fn parameter(pair: &str) -> String {
    const HARMLESS: &[&str] = &["sslmode", "application_name", "options", "connect_timeout"];
    match pair.split_once('=') {
        Some((name, _)) if !HARMLESS.contains(&name) => format!("{name}={MASK}"),
        Some(_) | None => pair.to_owned(),
    }
}
