//! Which package a file belongs to, according to the package's metadata.

use sframe_record::text::printable;

/// Longer names and versions are ignored.
const LONGEST: usize = 512;

/// The identity that a package states in its metadata: the `control` file of a `.deb`, the header of an RPM package, or
/// the `.PKGINFO` of Alpine and Arch Linux. All fields are safe to print to a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageIdentity {
    /// Its name.
    pub name: String,
    /// Its version. For an RPM package it includes the release and, if there is one, the epoch: `2:1.0-3`.
    pub version: Option<String>,
    /// The architecture, or the distribution's word for "any".
    pub architecture: Option<String>,
    /// What it was built from, if stated: `Source` (deb), the source package's file name (RPM), `origin` (Alpine),
    /// `pkgbase` (Arch Linux).
    pub source: Option<String>,
}

impl PackageIdentity {
    /// Parses a `control` file, or one stanza of a `Packages` index (Debian Policy 5.1).
    #[must_use]
    pub fn of_control(text: &[u8]) -> Option<PackageIdentity> {
        let field = |name: &[u8]| text_of(control_field(text, name)?);
        Some(PackageIdentity {
            name: field(b"Package")?,
            version: field(b"Version"),
            architecture: field(b"Architecture"),
            source: field(b"Source"),
        })
    }

    /// Parses a `.PKGINFO` file: lines of `key = value` (Arch Linux, `PKGBUILD` and `makepkg`; Alpine, "Apk spec").
    #[must_use]
    pub fn of_pkginfo(text: &[u8]) -> Option<PackageIdentity> {
        let field = |key: &[u8]| {
            let mut lines = text.split(|byte| *byte == b'\n');
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(b" = "))?;
            text_of(value)
        };
        Some(PackageIdentity {
            name: field(b"pkgname")?,
            version: field(b"pkgver"),
            architecture: field(b"arch"),
            source: field(b"origin").or_else(|| field(b"pkgbase")),
        })
    }
}

/// The first line of a field in the first stanza of `text`. Field names are case-insensitive (Debian Policy 5.1).
#[must_use]
pub(super) fn control_field<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut lines =
        text.split(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    lines.find_map(|line| {
        let (found, value) = line.split_at_checked(name.len())?;
        found.eq_ignore_ascii_case(name).then(|| value.strip_prefix(b":"))?.map(<[u8]>::trim_ascii)
    })
}

/// A non-empty value, made safe to print to a terminal.
pub(super) fn text_of(value: &[u8]) -> Option<String> {
    let value = value.trim_ascii();
    (!value.is_empty() && value.len() <= LONGEST).then(|| printable(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    /// Control files have case-insensitive names, multi-line values and several stanzas (Debian Policy 5.1, 5.3,
    /// 5.6.1).
    #[test]
    fn control_files_are_parsed() {
        let control = b"PACKAGE: libx1\nSource: x (1.0-1)\nVersion:1:1.0-2~a\nDescription: text\n Architecture: no\n\
                        Architecture: arm64  \n\nPackage: other\nSection: libs\n";
        let identity = PackageIdentity::of_control(control).expect("it has a name");
        assert_eq!(identity.name, "libx1");
        assert_eq!(identity.version, text("1:1.0-2~a"));
        assert_eq!(identity.architecture, text("arm64"));
        assert_eq!(identity.source, text("x (1.0-1)"));
        assert_eq!(control_field(control, b"Section"), None);
        assert_eq!(PackageIdentity::of_control(b"Packages: x\n"), None);
        assert_eq!(PackageIdentity::of_control(b"Package:\nVersion: 1\n"), None);
    }

    #[test]
    fn pkginfo_files_are_parsed() {
        let arch = b"# makepkg\npkgname = x\npkgbase = y\npkgver = 1-2\npkgdesc = pkgver = 3\narch = x86_64\n";
        let identity = PackageIdentity::of_pkginfo(arch).expect("it has a name");
        assert_eq!((identity.name.as_str(), identity.source), ("x", text("y")));
        assert_eq!((identity.version, identity.architecture), (text("1-2"), text("x86_64")));
        let alpine = PackageIdentity::of_pkginfo(b"pkgname = a\norigin = b\n").expect("a name");
        assert_eq!((alpine.source, alpine.version), (text("b"), None));
    }

    #[test]
    fn overlong_values_and_control_characters_are_dropped() {
        let long = [b"Package: x\nVersion: ".as_slice(), &[b'1'; LONGEST + 1]].concat();
        let identity = PackageIdentity::of_control(&long).expect("it has a name");
        assert_eq!(identity.version, None);
        let identity = PackageIdentity::of_control(b"Package: \x1b[31mx\n").expect("a name");
        assert_eq!(identity.name, "\\x1b[31mx");
    }
}
