//! What the environment variables of debuginfod's clients say (debuginfod-client-config(7)).

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use sframe_record::text::printable;

use super::DebuginfodError;
use super::error::SERVERS;

/// The time in which a server has to send [`PROGRESS`](super::server::PROGRESS) bytes.
const TIMEOUT: u64 = 90;
/// The time for a file. It holds even if the variables ask for no limit.
const LONGEST: u64 = 3600;
/// The size of a file. It holds even if the variables ask for no limit.
const LARGEST: u64 = 4 << 30;

/// The servers, the cache and the limits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// The addresses of the servers, without a slash at the end.
    pub(super) servers: Vec<String>,
    /// The folder of the cache.
    pub(super) cache: PathBuf,
    /// How long a server may be silent or too slow.
    pub(super) timeout: Duration,
    /// The time for a file.
    pub(super) longest: Duration,
    /// The size of a file in bytes.
    pub(super) largest: u64,
    /// The size that servers are asked not to exceed, if the environment has one.
    pub(super) wanted: Option<u64>,
}

impl Settings {
    /// Reads the variables with `variable`, and finds out with `exists` whether there is a folder.
    ///
    /// # Errors
    /// Returns an error if there is no server or no cache, or if a variable cannot be understood.
    pub(super) fn read(
        variable: impl Fn(&str) -> Option<OsString>,
        exists: impl Fn(&PathBuf) -> bool,
    ) -> Result<Settings, DebuginfodError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name| -> Result<Option<Option<u64>>, DebuginfodError> {
            match set(name) {
                None => Ok(None),
                Some(value) => {
                    let number = value.to_str().and_then(|value| value.trim().parse::<i64>().ok());
                    let number = number.ok_or(DebuginfodError::NotANumber(name))?;
                    // Zero and negative numbers mean that there is no limit.
                    Ok(Some(u64::try_from(number).ok().filter(|number| *number > 0)))
                }
            }
        };
        let servers = servers(&set("DEBUGINFOD_URLS").unwrap_or_default())?;
        let timeout = number("DEBUGINFOD_TIMEOUT")?.unwrap_or(Some(TIMEOUT)).unwrap_or(LONGEST);
        let longest = number("DEBUGINFOD_MAXTIME")?.flatten().unwrap_or(LONGEST);
        let wanted = number("DEBUGINFOD_MAXSIZE")?.flatten();
        let folder = |name: &str| set(name).map(PathBuf::from);
        let home = folder("HOME");
        let old = home.as_ref().map(|home| home.join(".debuginfod_client_cache")).filter(exists);
        let cache = folder("DEBUGINFOD_CACHE_PATH")
            .or(old)
            .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("debuginfod_client")))
            .or_else(|| home.map(|home| home.join(".cache/debuginfod_client")))
            .ok_or(DebuginfodError::NoCache)?;
        Ok(Settings {
            servers,
            cache,
            timeout: Duration::from_secs(timeout.min(LONGEST)),
            longest: Duration::from_secs(longest.min(LONGEST)),
            largest: wanted.unwrap_or(LARGEST).min(LARGEST),
            wanted,
        })
    }
}

/// The addresses in `DEBUGINFOD_URLS`.
fn servers(urls: &OsString) -> Result<Vec<String>, DebuginfodError> {
    let urls = urls.to_str().ok_or(DebuginfodError::NotText)?;
    // Fedora's value has words on how signatures of the files are to be checked, which later versions of elfutils know.
    let words = urls.split_ascii_whitespace().filter(|word| !word.starts_with("ima:"));
    let mut servers = Vec::new();
    for word in words {
        let scheme = word.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            let word = crate::repository::without_credentials(&printable(word));
            return Err(DebuginfodError::NotAnAddress(word));
        }
        let server = word.trim_end_matches('/').to_owned();
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    match servers.len() {
        0 => Err(DebuginfodError::NoServer),
        1..=SERVERS => Ok(servers),
        many => Err(DebuginfodError::ManyServers(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)], old: bool) -> Result<Settings, DebuginfodError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Settings::read(variable, |_| old)
    }

    const URLS: (&str, &str) =
        ("DEBUGINFOD_URLS", "ima:enforcing http://a:8002/  https://b ima:ignore https://b/");

    /// debuginfod-client-config(7), and Fedora's value of `DEBUGINFOD_URLS`.
    #[test]
    fn variables_are_those_of_elfutils() {
        let of = |more: &[(&str, &str)]| {
            read(&[&[URLS, ("HOME", "/home/x")], more].concat(), false).expect("settings")
        };
        let settings = of(&[]);
        assert_eq!(settings.servers, ["http://a:8002", "https://b"]);
        assert_eq!(settings.timeout, Duration::from_secs(90));
        assert_eq!((settings.longest, settings.largest), (Duration::from_secs(3600), 4 << 30));
        let limits =
            [("DEBUGINFOD_TIMEOUT", "7"), ("DEBUGINFOD_MAXTIME", "8"), ("DEBUGINFOD_MAXSIZE", "9")];
        let settings = of(&limits);
        assert_eq!(
            (settings.timeout, settings.longest),
            (Duration::from_secs(7), Duration::from_secs(8))
        );
        assert_eq!((settings.largest, settings.wanted), (9, Some(9)));
        // "No limit" is ours.
        let settings = of(&limits.map(|(name, _)| (name, "-1")));
        assert_eq!(
            (settings.timeout, settings.longest),
            (Duration::from_secs(3600), Duration::from_secs(3600))
        );
        assert_eq!((settings.largest, settings.wanted), (4 << 30, None));
        let settings = of(&limits.map(|(name, _)| (name, "9223372036854775807")));
        assert_eq!((settings.longest, settings.largest), (Duration::from_secs(3600), 4 << 30));
    }

    #[test]
    fn the_cache_is_where_elfutils_has_it() {
        let of = |variables: &[(&str, &str)], old| {
            let settings = read(&[&[URLS], variables].concat(), old);
            settings.map(|settings| settings.cache).map_err(|error| error.to_string())
        };
        let (home, xdg) = (("HOME", "/home/x"), ("XDG_CACHE_HOME", "/xdg"));
        let path = ("DEBUGINFOD_CACHE_PATH", "/path");
        assert_eq!(of(&[home, xdg, path], true), Ok("/path".into()));
        assert_eq!(of(&[home, xdg], true), Ok("/home/x/.debuginfod_client_cache".into()));
        assert_eq!(of(&[home, xdg], false), Ok("/xdg/debuginfod_client".into()));
        assert_eq!(of(&[home], false), Ok("/home/x/.cache/debuginfod_client".into()));
        assert!(of(&[], false).expect_err("no folder").contains("DEBUGINFOD_CACHE_PATH"));
    }

    #[test]
    fn wrong_variables_are_errors() {
        for (name, value, part) in [
            ("DEBUGINFOD_URLS", " ima:permissive ", "names no server"),
            ("DEBUGINFOD_URLS", "file:///srv", "file:///srv in DEBUGINFOD_URLS is neither"),
            ("DEBUGINFOD_URLS", "ftp://user:secret@h/\u{1b}", "ftp://h/"),
            ("DEBUGINFOD_URLS", "localhost:8002", "neither an http: nor"),
            ("DEBUGINFOD_TIMEOUT", "soon", "DEBUGINFOD_TIMEOUT is not a number"),
        ] {
            let variables = [(name, value), URLS, ("HOME", "/home/x")];
            let why = read(&variables, false).expect_err("wrong").to_string();
            assert!(
                why.contains(part) && !why.contains("secret") && !why.contains('\u{1b}'),
                "{why}"
            );
        }
        let many: String = (0..33).map(|number| format!("http://s{number} ")).collect();
        let why = read(&[("DEBUGINFOD_URLS", &many)], false).expect_err("too many").to_string();
        assert!(why.contains("33 servers, more than 32"), "{why}");
    }
}
