//! The list of mappings in `/proc/PID/maps` (proc_pid_maps(5)).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The name of the code that the kernel maps into every process.
const VDSO: &[u8] = b"[vdso]";

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The first address.
    pub(crate) start: u64,
    /// The first address after it.
    pub(crate) end: u64,
    /// Whether the process can change it.
    pub(crate) writable: bool,
    /// Whether code in it can be executed.
    pub(crate) executable: bool,
    /// The offset in the file.
    pub(crate) offset: u64,
    /// The file; unspecified for other memory.
    pub(crate) file: FileKey,
}

/// What distinguishes a mapped file from others: it can be replaced by another one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileKey {
    /// The path of the file, with ` (deleted)` after it if it was removed, or a name such as `[stack]`; empty for most
    /// anonymous memory.
    pub(crate) name: Vec<u8>,
    /// Major and minor number of the file's device.
    device: (u32, u32),
    /// The number of the file in its file system.
    inode: u64,
}

impl FileKey {
    /// The name as a path.
    pub(crate) fn path(&self) -> PathBuf {
        OsStr::from_bytes(&self.name).into()
    }

    /// Whether it is in a file system. Paths are absolute, and other names are in brackets.
    pub(crate) fn is_file(&self) -> bool {
        self.name.starts_with(b"/")
    }

    /// Whether it is the vDSO, which is only in memory.
    pub(crate) fn is_vdso(&self) -> bool {
        self.name == VDSO
    }
}

/// The mappings of a process, by address.
///
/// # Errors
/// Returns an error if the list cannot be read: the process has ended, or belongs to another user.
pub(crate) fn read(pid: u32) -> io::Result<Vec<Line>> {
    Ok(parse(&fs::read(format!("/proc/{pid}/maps"))?))
}

/// The mappings in the text of `/proc/PID/maps`. Lines of another form are skipped.
fn parse(text: &[u8]) -> Vec<Line> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(text: &[u8]) -> Option<Line> {
    let mut words = text.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| str::from_utf8(word).ok());
    let (start, end) = word()?.split_once('-')?;
    let (permissions, offset, device, inode) = (word()?, word()?, word()?, word()?);
    let (major, minor) = device.split_once(':')?;
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    Some(Line {
        start: hexadecimal(start)?,
        end: hexadecimal(end)?,
        writable: permissions.contains('w'),
        executable: permissions.contains('x'),
        offset: hexadecimal(offset)?,
        file: FileKey {
            name: unescaped(words.next().unwrap_or_default().trim_ascii_start()),
            device: (number(major)?, number(minor)?),
            inode: inode.parse().ok()?,
        },
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
            b"559c0c6e1000-559c0c6e6000 r-xp 00002000 fe:10 1316 /usr/bin/a b\\012c (deleted)\n\
            7ffd8b7d1000-7ffd8b7f2000 rw-p 00000000 00:00 0                          [stack]\n\
            7f1c3d000000-7f1c3d021000 rwxp 00000000 00:00 0 \n";
        let key = |name: &[u8], device, inode| FileKey { name: name.to_vec(), device, inode };
        let expected = [
            Line {
                start: 0x559c_0c6e_1000,
                end: 0x559c_0c6e_6000,
                writable: false,
                executable: true,
                offset: 0x2000,
                file: key(b"/usr/bin/a b\nc (deleted)", (0xfe, 0x10), 1316),
            },
            Line {
                start: 0x7ffd_8b7d_1000,
                end: 0x7ffd_8b7f_2000,
                writable: true,
                executable: false,
                offset: 0,
                file: key(b"[stack]", (0, 0), 0),
            },
            Line {
                start: 0x7f1c_3d00_0000,
                end: 0x7f1c_3d02_1000,
                writable: true,
                executable: true,
                offset: 0,
                file: key(b"", (0, 0), 0),
            },
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn lines_of_another_form_are_skipped() {
        let text = b"\n1000\n1000-2000\n1000-2000 r-xp zz 00:00 0\nx-2000 r-xp 0 00:00 0\n\
            1000-2000 r-xp 0 00 0\n1000-2000 r-xp 0 00:00 x\n";
        assert_eq!(parse(text), []);
        assert_eq!(parse(b"1000-2000 rwxp 00000000 00:00 0").len(), 1);
    }
}
