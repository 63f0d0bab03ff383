//! Lists of paths, as people and other programs write them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::kind::Kind;

/// The longest path that Linux opens (`PATH_MAX`), in bytes.
const LONGEST: usize = 4096;
/// The maximum size of a list in bytes.
pub const LARGEST: u64 = 128 << 20;
/// The maximum number of paths in a list.
const MOST: usize = 2_000_000;

/// The first bytes of bare SFrame sections, in both byte orders.
const SECTIONS: [&[u8]; 2] = [&[0xde, 0xe2], &[0xe2, 0xde]];

/// The paths in a list: each ends with a NUL character if there is any, as `find -print0` writes them, otherwise with a line
/// feed. Empty lines are ignored.
///
/// # Errors
/// Returns the reason why the bytes are no list. A file to be checked would name other files at random, such as `/`.
pub fn paths(list: &[u8]) -> Result<Vec<OsString>, &'static str> {
    let is_section = SECTIONS.iter().any(|magic| list.starts_with(magic));
    if is_section || !matches!(Kind::of(list), Kind::Other | Kind::Empty) {
        return Err("it is a file to be checked, not a list of paths");
    }
    let has_nul = list.contains(&0);
    if has_nul && !list.ends_with(&[0]) {
        return Err("it is no list of paths: it has NUL characters, and does not end with one");
    }
    let separator = if has_nul { 0 } else { b'\n' };
    let body = list.strip_suffix(&[separator]).unwrap_or(list);
    // File names may have control characters. If most of them do, they are no file names.
    let paths = || body.split(|byte| *byte == separator);
    let odd = paths().filter(|path| path.iter().any(|byte| is_control(*byte))).count();
    if odd > 1 && odd > paths().count() / 2 {
        return Err("it is no list of paths: most of them have control characters");
    }
    let mut found = Vec::new();
    for path in paths() {
        match path {
            [] if has_nul && !list.is_empty() => {
                return Err("it is no list of paths: one is empty");
            }
            [] => continue,
            _ if path.len() > LONGEST => return Err("it is no list of paths: one is too long"),
            _ if !has_nul && path.iter().any(|byte| is_control(*byte)) => {
                return Err(
                    "it is no list of paths: one has control characters. Separate paths with \
                            NUL characters if they are right",
                );
            }
            _ if found.len() >= MOST => {
                return Err(
                    "it has more than 2,000,000 paths, the limit: name folders, or use several lists",
                );
            }
            _ => found.push(OsStr::from_bytes(path).to_owned()),
        }
    }
    Ok(found)
}

const fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\t' || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_separated_by_nul_characters_or_lines() {
        let read = |list: &[u8]| {
            let paths = paths(list).expect("a list");
            paths.iter().map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(read(b"a\nb c\n\n\td\n"), [b"a".to_vec(), b"b c".into(), b"\td".into()]);
        assert_eq!(read(b"a"), [b"a"]);
        assert_eq!(
            read(b"a\nb\0\x1bc\0d\0e\0"),
            [b"a\nb".to_vec(), b"\x1bc".into(), b"d".into(), b"e".into()]
        );
        assert_eq!(read(b"a\0b\0"), [b"a", b"b"]);
        assert_eq!(read(b"\xff\xfe\n"), [b"\xff\xfe"]);
        assert!(read(b"").is_empty() && read(b"\n").is_empty());
    }

    #[test]
    fn files_are_no_lists() {
        let file = "it is a file to be checked, not a list of paths";
        for content in
            [&b"\x7fELF\x02\x01\n/\n"[..], b"!<arch>\n/\n", b"\xe2\xde\x03\n/\n", b"\xde\xe2\n"]
        {
            assert_eq!(paths(content), Err(file));
        }
        assert_eq!(paths(b"\0"), Err("it is no list of paths: one is empty"));
        for content in [&b"a\0\0/\0"[..], b"\0/\0", b"\0\0"] {
            assert_eq!(paths(content), Err("it is no list of paths: one is empty"));
        }
        assert!(paths(b"\x01\n/\n").is_err_and(|why| why.contains("control characters")));
        let no_end = "it is no list of paths: it has NUL characters, and does not end with one";
        assert_eq!(paths(b"\x01\x02\0/\0\x7f\x03"), Err(no_end));
        let odd = "it is no list of paths: most of them have control characters";
        assert_eq!(paths(b"\x01\x02\0/\0\x7f\x03\0"), Err(odd));
        assert_eq!(paths(b"\x01\n\x02\n/\n"), Err(odd));
        let long = [b'a'; LONGEST + 1];
        assert_eq!(paths(&long), Err("it is no list of paths: one is too long"));
        assert!(paths(&long[1..]).is_ok());
    }
}
