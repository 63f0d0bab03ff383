//! Linkers, as far as they treat SFrame differently.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const NOT_OBSERVED: &str = "what this linker does with SFrame was not observed";

/// A linker, or a range of its versions with the same behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Linker {
    /// GNU ld 2.40: merges version 1.
    #[serde(rename = "ld-2.40")]
    Ld240,
    /// GNU ld 2.41 to 2.44: merges version 2.
    #[serde(rename = "ld-2.44")]
    Ld244,
    /// GNU ld 2.46 and later: merges version 3.
    #[serde(rename = "ld-2.47")]
    Ld247,
    /// gold, all versions: does not know the section.
    #[serde(rename = "gold")]
    Gold,
    /// LLVM's lld: does not know the section.
    #[serde(rename = "lld")]
    Lld,
    /// mold 3: merges version 3.
    #[serde(rename = "mold")]
    Mold,
    /// wild 0.10: leaves the section out, and appends with `-r`.
    #[serde(rename = "wild")]
    Wild,
    /// Any other linker, whose treatment of SFrame was not observed.
    #[serde(rename = "other")]
    Other,
}

impl Linker {
    /// The linkers whose outcome is predicted.
    pub const MODELLED: [Linker; 7] = [
        Linker::Ld240,
        Linker::Ld244,
        Linker::Ld247,
        Linker::Gold,
        Linker::Lld,
        Linker::Mold,
        Linker::Wild,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Linker::Ld240 => "ld-2.40",
            Linker::Ld244 => "ld-2.44",
            Linker::Ld247 => "ld-2.47",
            Linker::Gold => "gold",
            Linker::Lld => "lld",
            Linker::Mold => "mold",
            Linker::Wild => "wild",
            Linker::Other => "other",
        }
    }

    /// The name in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Linker::Ld240 => "GNU ld 2.40",
            Linker::Ld244 => "GNU ld 2.44",
            Linker::Ld247 => "GNU ld 2.47",
            Linker::Gold => "gold",
            Linker::Lld => "lld",
            Linker::Mold => "mold",
            Linker::Wild => "wild",
            Linker::Other => "a linker that is not modelled",
        }
    }

    /// Whether this is a version of GNU ld.
    #[must_use]
    pub const fn is_gnu_ld(self) -> bool {
        matches!(self, Linker::Ld240 | Linker::Ld244 | Linker::Ld247)
    }

    /// The format version of the sections that it writes; `None` for linkers that do not know the section.
    #[must_use]
    pub const fn writes(self) -> Option<u8> {
        match self {
            Linker::Ld240 => Some(1),
            Linker::Ld244 => Some(2),
            Linker::Ld247 | Linker::Mold => Some(3),
            Linker::Gold | Linker::Lld | Linker::Wild | Linker::Other => None,
        }
    }

    /// Whether an archive's members can satisfy symbols that a later input refers to first.
    #[must_use]
    pub const fn remembers_archives(self) -> bool {
        matches!(self, Linker::Lld | Linker::Mold)
    }
}

impl fmt::Display for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not that of a linker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLinker;

impl fmt::Display for UnknownLinker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Linker::MODELLED.map(Linker::name);
        write!(f, "the linkers are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownLinker {}

impl FromStr for Linker {
    type Err = UnknownLinker;

    fn from_str(name: &str) -> Result<Linker, UnknownLinker> {
        Linker::MODELLED.into_iter().find(|linker| linker.name() == name).ok_or(UnknownLinker)
    }
}

/// A linker as its own `--version` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The behaviour that is predicted.
    pub linker: Linker,
    /// The first line of its `--version`; empty if the linker was only named.
    pub version: String,
    /// Why the prediction may not fit this version, if the links that prove it used another one.
    pub doubt: Option<String>,
}

impl Identity {
    /// A linker that was named, not run.
    #[must_use]
    pub fn named(linker: Linker) -> Identity {
        let doubt = (linker == Linker::Other).then(|| NOT_OBSERVED.to_owned());
        Identity { linker, version: String::new(), doubt }
    }

    /// Recognises the first line of a linker's `--version`.
    ///
    /// ```
    /// use sframe_link::{Identity, Linker};
    ///
    /// let gold = Identity::of_version("GNU gold (GNU Binutils for Debian 2.40) 1.16");
    /// assert_eq!(gold.linker, Linker::Gold);
    /// let ld = Identity::of_version("GNU ld (GNU Binutils for Debian) 2.43.1");
    /// assert_eq!((ld.linker, ld.doubt.is_some()), (Linker::Ld244, true));
    /// ```
    #[must_use]
    pub fn of_version(line: &str) -> Identity {
        let (linker, doubt) = recognise(line);
        let version = sframe_record::text::printable(line.chars().take(200).collect::<String>());
        Identity { linker, version, doubt }
    }
}

fn recognise(line: &str) -> (Linker, Option<String>) {
    let first = line.split_whitespace().next().unwrap_or_default();
    match number(line) {
        _ if line.starts_with("GNU gold") => (Linker::Gold, None),
        Some(version) if line.starts_with("GNU ld") => gnu_ld(version),
        Some((major, minor)) if line.contains("LLD ") => {
            let doubt =
                (major != 23).then(|| format!("lld 23 was observed, and this is {major}.{minor}"));
            (Linker::Lld, doubt)
        }
        Some((3.., minor)) if first == "mold" => {
            let doubt =
                (minor != 0).then(|| format!("mold 3.0 was observed, and this is 3.{minor}"));
            (Linker::Mold, doubt)
        }
        Some((major, minor)) if first == "Wild" => {
            let doubt = ((major, minor) != (0, 10))
                .then(|| format!("wild 0.10 was observed, and this is {major}.{minor}"));
            (Linker::Wild, doubt)
        }
        _ => (Linker::Other, Some(NOT_OBSERVED.to_owned())),
    }
}

fn gnu_ld((major, minor): (u32, u32)) -> (Linker, Option<String>) {
    let unlike = |seen: &str| Some(format!("GNU ld {seen} observed, and this is {major}.{minor}"));
    match (major, minor) {
        (2, 40) => (Linker::Ld240, None),
        (2, 44) => (Linker::Ld244, None),
        (2, 47) => (Linker::Ld247, None),
        (2, 41..=43) => (Linker::Ld244, unlike("2.44 was")),
        (2, 46 | 48..) => (Linker::Ld247, unlike("2.47 was")),
        _ => (Linker::Other, unlike("2.40, 2.44 and 2.47 were")),
    }
}

/// The first `major.minor` that follows a space and is not inside parentheses.
fn number(line: &str) -> Option<(u32, u32)> {
    let mut depth = 0_u32;
    let outside: String = line
        .chars()
        .filter(|character| {
            match character {
                '(' => depth = depth.saturating_add(1),
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect();
    outside.split_whitespace().find_map(|word| {
        let mut parts = word.split(['.', '-']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines are those of real linkers.
    #[test]
    fn linkers_are_recognised_by_their_version() {
        let cases = [
            ("GNU ld (GNU Binutils for Debian) 2.40", Linker::Ld240),
            ("GNU ld (GNU Binutils for Debian) 2.44", Linker::Ld244),
            ("GNU ld (GNU Binutils for Debian) 2.47.50.20261021", Linker::Ld247),
            ("GNU gold (GNU Binutils for Debian 2.40) 1.16", Linker::Gold),
            ("Debian LLD 23.1.4 (compatible with GNU linkers)", Linker::Lld),
            ("mold 3.0.0 (compatible with GNU ld)", Linker::Mold),
            ("Wild 0.10.0 non-git-build (compatible with GNU linkers)", Linker::Wild),
        ];
        for (line, linker) in cases {
            let identity = Identity::of_version(line);
            assert_eq!((identity.linker, identity.doubt), (linker, None), "{line}");
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for linker in Linker::MODELLED {
            assert_eq!(linker.name().parse(), Ok(linker));
        }
        assert_eq!("ld".parse::<Linker>(), Err(UnknownLinker));
        assert_eq!(Identity::named(Linker::Gold).doubt, None);
        assert!(Identity::named(Linker::Other).doubt.is_some());
    }

    #[test]
    fn unobserved_versions_are_doubtful() {
        for line in
            ["GNU ld (GNU Binutils) 2.45", "GNU ld (GNU Binutils) 2.38", "mold 2.30.0", "", "("]
        {
            let identity = Identity::of_version(line);
            assert_eq!(identity.linker, Linker::Other, "{line}");
            assert!(identity.doubt.is_some(), "{line}");
        }
    }
}
