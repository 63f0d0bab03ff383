//! Removes the parts of names that change from one version to the next.

/// How much of a version is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// All but the first number: `libfoo.so.1.#`.
    KeepMajor,
    /// All numbers: `libfoo.so.#`.
    LeaveOut,
}

/// A path, or a path inside a package, without versions, hashes and build IDs.
///
/// The definition of a version is narrow, because a wrong match is worse than none: numbers separated by dots, numbers
/// after `.so.`, and the version fields in file names of packages. `aes-128.o` and `aes-256.o` are two files.
pub(crate) fn path(path: &str, versions: Versions) -> String {
    let mut out = String::with_capacity(path.len());
    let mut before = "";
    for component in path.split_inclusive(['/', '!']) {
        let end = component.len() - usize::from(component.ends_with(['/', '!']));
        let (name, separator) = component.split_at(end);
        if before == ".build-id" && is_hexadecimal(name) {
            out.push('#');
        } else {
            self::component(&mut out, name, versions);
        }
        out.push_str(separator);
        before = name;
    }
    out
}

/// The last component.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '!']).next().unwrap_or(path)
}

/// A symbol without the numbers that compilers give to copies, such as `f.part.#` for `f.part.0`, and without the hash
/// in Rust's names.
pub(crate) fn symbol(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (place, part) in name.split('.').enumerate() {
        if place > 0 {
            out.push('.');
        }
        let number = place > 0 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        out.push_str(if number { "#" } else { part });
    }
    // Legacy mangling: `17h`, 16 digits, `E`.
    let hash = out.len().checked_sub(20).filter(|_| out.ends_with('E'));
    if let Some(at) = hash
        && let Some(digits) = out.get(at..).and_then(|tail| tail.strip_prefix("17h"))
        && digits.strip_suffix('E').is_some_and(is_hexadecimal)
    {
        out.truncate(at);
        out.push_str("17h#E");
    }
    out
}

fn component(out: &mut String, name: &str, versions: Versions) {
    match package(name) {
        Some(stem) => out.push_str(&stem),
        None => plain(out, name, versions),
    }
}

/// The name of a package's file with `#` for its version.
fn package(name: &str) -> Option<String> {
    let versioned = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if let Some(stem) = name.strip_suffix(".deb").or_else(|| name.strip_suffix(".udeb")) {
        // NAME_VERSION_ARCHITECTURE
        let (package, rest) = stem.split_once('_')?;
        let (version, machine) = rest.rsplit_once('_')?;
        return versioned(version).then(|| format!("{package}_#_{machine}.deb"));
    }
    if let Some(stem) = name.strip_suffix(".rpm") {
        // NAME-VERSION-RELEASE.ARCHITECTURE
        let (stem, machine) = stem.rsplit_once('.')?;
        let (stem, _) = stem.rsplit_once('-')?;
        let (package, version) = stem.rsplit_once('-')?;
        return versioned(version).then(|| format!("{package}-#.{machine}.rpm"));
    }
    if let Some(stem) = name.strip_suffix(".apk") {
        // NAME-VERSION-rRELEASE
        let (stem, release) = stem.rsplit_once('-')?;
        let (package, version) = stem.rsplit_once('-')?;
        let known = versioned(version) && release.starts_with('r');
        return known.then(|| format!("{package}-#.apk"));
    }
    if let Some((stem, compression)) = name.split_once(".pkg.tar") {
        // NAME-VERSION-RELEASE-ARCHITECTURE
        let (stem, machine) = stem.rsplit_once('-')?;
        let (stem, _) = stem.rsplit_once('-')?;
        let (package, version) = stem.rsplit_once('-')?;
        return versioned(version).then(|| format!("{package}-#-{machine}.pkg.tar{compression}"));
    }
    // NAME-VERSION-TAGS
    let (package, rest) = name.strip_suffix(".whl")?.split_once('-')?;
    let (version, tags) = rest.split_once('-')?;
    versioned(version).then(|| format!("{package}-#-{tags}.whl"))
}

/// Any other name, with versions and hashes replaced.
fn plain(out: &mut String, name: &str, versions: Versions) {
    let mut rest = name;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let starts = !before.is_some_and(|c| c.is_ascii_alphanumeric());
        let after_so = out.ends_with(".so.");
        let taken = if starts && hash(rest) > 0 {
            out.push('#');
            hash(rest)
        } else if first.is_ascii_digit() && !before.is_some_and(|c| c.is_ascii_digit()) {
            let length = match version(rest) {
                0 if after_so => digits(rest),
                length => length,
            };
            if length > 0 {
                replaced(out, rest.get(..length).unwrap_or(rest), versions);
            }
            length
        } else {
            0
        };
        let taken = if taken == 0 {
            out.push(first);
            first.len_utf8()
        } else {
            taken
        };
        let (done, left) = rest.split_at_checked(taken).unwrap_or((rest, ""));
        before = done.chars().next_back();
        rest = left;
    }
}

fn replaced(out: &mut String, version: &str, versions: Versions) {
    if versions == Versions::KeepMajor {
        let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
        out.push_str(version.get(..end).unwrap_or_default());
        out.push('.');
    }
    out.push('#');
}

/// The length in bytes of the number at the start of `text`.
fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The length in bytes of the version at the start of `text`, such as `1.2.3` or `1.2-3ubuntu4`; 0 if there is none.
fn version(text: &str) -> usize {
    let mut length = digits(text);
    let mut dots = 0;
    while let Some(more) = text.get(length..).and_then(|rest| rest.strip_prefix('.')) {
        let number = digits(more);
        if number == 0 {
            break;
        }
        length += 1 + number;
        dots += 1;
    }
    if dots == 0 {
        return 0;
    }
    // `1.2rc1`, and a distribution's `1.2-3ubuntu4~1`.
    let letters = |c: char| !c.is_ascii_alphanumeric();
    length += text.get(length..).map_or(0, |rest| rest.find(letters).unwrap_or(rest.len()));
    while let Some(more) = text.get(length..).and_then(|rest| rest.strip_prefix(['-', '+', '~'])) {
        if !more.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        length += 1 + more.find(letters).unwrap_or(more.len());
    }
    length
}

/// The length in bytes of the hash or build ID (at least 8 hexadecimal digits, both letters and digits) or date
/// (`20260131`) at the start of `text`; 0 if there is none.
fn hash(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let hash = end >= 8 && is_hexadecimal(word) && (1..end).contains(&digits);
    let day = end == 8 && digits == 8 && (word.starts_with("19") || word.starts_with("20"));
    if hash || day { end } else { 0 }
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(name: &str) -> String {
        path(name, Versions::LeaveOut)
    }

    #[test]
    fn versions_are_left_out() {
        for (old, new) in [
            ("usr/lib/libfoo.so.1.2.3", "usr/lib/libfoo.so.1.2.4"),
            ("libfoo.so.1", "libfoo.so.2"),
            ("pool/f/foo_1.2-3_amd64.deb", "pool/f/foo_1:1.3~rc1-1+b2_amd64.deb"),
            ("foo-1.2-3.fc40.x86_64.rpm", "foo-1.10-1.fc41.x86_64.rpm"),
            ("foo-1.2.3-r0.apk", "foo-1.2.4-r1.apk"),
            ("foo-1.2-3-x86_64.pkg.tar.zst", "foo-1.3-1-x86_64.pkg.tar.zst"),
            ("foo-1.0-cp311-abi3-linux.whl", "foo-1.1-cp311-abi3-linux.whl"),
            ("foo-1.2.tar.gz", "foo-1.3rc1.tar.gz"),
            ("opt/foo-1.2/lib.so", "opt/foo-1.10.1/lib.so"),
            ("python3.11/x.so", "python3.12/x.so"),
            (".build-id/ab/0123456789ab.debug", ".build-id/9f/abcdef0123.debug"),
            ("libstd-0a1b2c3d4e5f6071.so", "libstd-ffffffff00000000.so"),
            ("snap-20260101/a.o", "snap-20260102/a.o"),
            ("out.tar!libfoo-1.2/a.o", "out.tar!libfoo-1.3/a.o"),
        ] {
            assert_eq!(any(old), any(new));
        }
    }

    #[test]
    fn different_names_are_not_matched() {
        for (one, other) in [
            ("libfoo1.so", "libfoo2.so"),
            ("aes-128.o", "aes-256.o"),
            ("uint32.o", "uint64.o"),
            ("lib32/a.o", "lib64/a.o"),
            ("foo_1.2_amd64.deb", "foo_1.2_arm64.deb"),
            ("foo-1.2-3.x86_64.rpm", "foo-1.2-3.aarch64.rpm"),
            ("foo-dev_1.2_amd64.deb", "foo_1.2_amd64.deb"),
            ("cafebabe", "deadbeef"),
            ("aa/x", "bb/x"),
            ("part-00000001.o", "part-00000002.o"),
        ] {
            assert_ne!(any(one), any(other));
        }
        assert_eq!(path("libfoo.so.1.2.3", Versions::KeepMajor), "libfoo.so.1.#");
        assert_eq!(path("libfoo.so.2", Versions::KeepMajor), "libfoo.so.2.#");
        // Arbitrary text does not panic.
        assert_eq!(any("\u{e9}1.\u{e9}..//!.so."), "\u{e9}1.\u{e9}..//!.so.");
    }

    #[test]
    fn symbols_keep_the_kind_of_copy() {
        assert_eq!(symbol("f.part.0"), "f.part.#");
        assert_eq!(symbol("f.isra.12.cold"), "f.isra.#.cold");
        assert_eq!(symbol("f.constprop.1.part.2"), "f.constprop.#.part.#");
        assert_eq!(symbol("_ZN3foo17h0123456789abcdefE"), "_ZN3foo17h#E");
        for plain in ["f1", ".5", "", "f.x86", "17h0123456789abcdexE"] {
            assert_eq!(symbol(plain), if plain == ".5" { ".#" } else { plain });
        }
    }
}
