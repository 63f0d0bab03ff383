//! The list of mappings in `/proc/PID/maps` (Linux, Documentation/filesystems/proc.rst).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Whether code in it can be executed.
    pub executable: bool,
    /// The offset in the file.
    pub offset: u64,
    /// The number of the file in its file system.
    pub inode: u64,
    /// The path of the file, or a name such as `[stack]`; empty for most anonymous memory.
    pub name: Vec<u8>,
}

impl Line {
    /// The name as a path.
    #[must_use]
    pub(super) fn path(&self) -> PathBuf {
        OsStr::from_bytes(&self.name).into()
    }
}

/// The mappings in the text of `/proc/PID/maps`. Lines of another form are skipped.
#[must_use]
pub(super) fn parse(text: &[u8]) -> Vec<Line> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(text: &[u8]) -> Option<Line> {
    let mut words = text.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| str::from_utf8(word).ok());
    let (start, end) = word()?.split_once('-')?;
    let (permissions, offset, _device, inode) = (word()?, word()?, word()?, word()?);
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    Some(Line {
        start: hexadecimal(start)?,
        end: hexadecimal(end)?,
        executable: permissions.contains('x'),
        offset: hexadecimal(offset)?,
        inode: inode.parse().ok()?,
        name: unescaped(words.next().unwrap_or_default().trim_ascii_start()),
    })
}

/// The name of a file: the kernel writes a newline as `\012`, and nothing else in this way.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(br"\012") {
            Some(after) => {
                plain.push(b'\n');
                rest = after;
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as Linux 6.18 writes them.
    #[test]
    fn mappings_are_read() {
        let text =
            b"559c0c6e1000-559c0c6e6000 r-xp 00002000 fe:00 1316 /usr/bin/a b\\012c (deleted)\n\
            7ffd8b7d1000-7ffd8b7f2000 rw-p 00000000 00:00 0                          [stack]\n\
            7f1c3d000000-7f1c3d021000 rw-p 00000000 00:00 0 \n\
            broken\n";
        let expected = [
            Line {
                start: 0x559c_0c6e_1000,
                end: 0x559c_0c6e_6000,
                executable: true,
                offset: 0x2000,
                inode: 1316,
                name: b"/usr/bin/a b\nc (deleted)".to_vec(),
            },
            Line {
                start: 0x7ffd_8b7d_1000,
                end: 0x7ffd_8b7f_2000,
                executable: false,
                offset: 0,
                inode: 0,
                name: b"[stack]".to_vec(),
            },
            Line {
                start: 0x7f1c_3d00_0000,
                end: 0x7f1c_3d02_1000,
                executable: false,
                offset: 0,
                inode: 0,
                name: Vec::new(),
            },
        ];
        assert_eq!(parse(text), expected);
    }
}
