//! URLs as shown in messages.

/// A URL without user and password (RFC 3986, 3.2.1). Text that is not a URL is returned unchanged.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}//{host}{path}")
}
