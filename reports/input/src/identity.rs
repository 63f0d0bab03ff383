//! Which package a file belongs to, according to the package's metadata.

use sframe_record::text::printable;
use sframe_record::{Package, Text};

/// Longer names and versions are ignored.
const LONGEST: usize = 512;

/// The package that a `control` file describes, or one stanza of a `Packages` index (Debian Policy 5.1).
#[must_use]
pub(super) fn of_control(text: &[u8]) -> Option<Package<'static>> {
    let field = |name: &[u8]| text_of(control_field(text, name)?);
    Some(Package {
        name: field(b"Package")?,
        version: field(b"Version"),
        architecture: field(b"Architecture"),
        source: field(b"Source"),
    })
}

/// The package that a `.PKGINFO` file describes in lines of `key = value` (Arch Linux, `PKGBUILD` and `makepkg`; Alpine,
/// "Apk spec").
#[must_use]
pub(super) fn of_pkginfo(text: &[u8]) -> Option<Package<'static>> {
    let field = |key: &[u8]| text_of(pkginfo_field(text, key)?);
    Some(Package {
        name: field(b"pkgname")?,
        version: field(b"pkgver"),
        architecture: field(b"arch"),
        source: field(b"origin").or_else(|| field(b"pkgbase")),
    })
}

/// The value of the first line of a `.PKGINFO` file with this key.
#[must_use]
pub(super) fn pkginfo_field<'t>(text: &'t [u8], key: &[u8]) -> Option<&'t [u8]> {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(b" = ")).map(<[u8]>::trim_ascii)
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
pub(super) fn text_of(value: &[u8]) -> Option<Text<'static>> {
    let value = value.trim_ascii();
    (!value.is_empty() && value.len() <= LONGEST).then(|| printable(value).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Option<Text<'_>> {
        Some(value.into())
    }

    /// Control files have case-insensitive names, multi-line values and several stanzas (Debian Policy 5.1, 5.3,
    /// 5.6.1).
    #[test]
    fn control_files_are_parsed() {
        let control = b"PACKAGE: libx1\nSource: x (1.0-1)\nVersion:1:1.0-2~a\nDescription: text\n Architecture: no\n\
                        Architecture: arm64  \n\nPackage: other\nSection: libs\n";
        let identity = of_control(control).expect("it has a name");
        assert_eq!(identity.name.as_str(), "libx1");
        assert_eq!(identity.version, text("1:1.0-2~a"));
        assert_eq!(identity.architecture, text("arm64"));
        assert_eq!(identity.source, text("x (1.0-1)"));
        assert_eq!(control_field(control, b"Section"), None);
        assert_eq!(of_control(b"Packages: x\n"), None);
        assert_eq!(of_control(b"Package:\nVersion: 1\n"), None);
    }

    #[test]
    fn pkginfo_files_are_parsed() {
        let arch = b"# makepkg\npkgname = x\npkgbase = y\npkgver = 1-2\npkgdesc = pkgver = 3\narch = x86_64\n";
        let identity = of_pkginfo(arch).expect("it has a name");
        assert_eq!((identity.name.as_str(), identity.source), ("x", text("y")));
        assert_eq!((identity.version, identity.architecture), (text("1-2"), text("x86_64")));
        let alpine = of_pkginfo(b"pkgname = a\norigin = b\n").expect("a name");
        assert_eq!((alpine.source, alpine.version), (text("b"), None));
    }

    #[test]
    fn overlong_values_and_control_characters_are_dropped() {
        let long = [b"Package: x\nVersion: ".as_slice(), &[b'1'; LONGEST + 1]].concat();
        let identity = of_control(&long).expect("it has a name");
        assert_eq!(identity.version, None);
        let identity = of_control(b"Package: \x1b[31mx\n").expect("a name");
        assert_eq!(identity.name.as_str(), "\\x1b[31mx");
    }
}
