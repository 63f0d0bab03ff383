//! The command line of a linker: inputs in order, and options.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use sframe_input::{Opened, open, open_named};
use sframe_record::numbers::grouped;

use crate::options::{Options, Output};

/// How deep response files (`@file`) may be nested.
const DEEPEST: u32 = 8;

/// How much all response files may have together. A file counts as often as it is named.
#[derive(Debug)]
struct Room {
    /// Files: as many as libiberty's `expandargv` expands (observed: GNU ld 2.40 fails with one more).
    files: u32,
    /// Bytes. The kernel lets a command line have some 2 MB by default, and 6 MB at most (execve(2)).
    bytes: u64,
    /// Arguments. The largest links have some 100,000.
    arguments: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { files: 1_999, bytes: 16 << 20, arguments: 250_000 }
    }
}

/// Long options with a value in the next argument, if it does not follow `=`.
const WITH_VALUE: [&str; 44] = [
    "Map",
    "Tbss",
    "Tdata",
    "Text-segment",
    "Ttext",
    "Ttext-segment",
    "assert",
    "audit",
    "architecture",
    "auxiliary",
    "defsym",
    "depaudit",
    "default-script",
    "dependency-file",
    "dynamic-linker",
    "dynamic-list",
    "entry",
    "exclude-libs",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "filter",
    "fini",
    "format",
    "hash-style",
    "init",
    "library",
    "library-path",
    "oformat",
    "output",
    "plugin",
    "plugin-opt",
    "require-defined",
    "retain-symbols-file",
    "rpath",
    "rpath-link",
    "script",
    "section-start",
    "soname",
    "sort-section",
    "undefined",
    "undefined-glob",
    "unresolved-symbols",
    "version-script",
    "wrap",
];
/// Options of one letter with a value, which may follow directly.
const LETTERS: &[u8] = b"AFGILOPRTYabcefhlmouyz";

/// Options on which it depends what symbols a module exports, or which functions run at its start and end.
const CHOOSE_SYMBOLS: [&str; 12] = [
    "E",
    "dynamic-list",
    "dynamic-list-data",
    "exclude-libs",
    "export-dynamic",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "fini",
    "init",
    "retain-symbols-file",
    "undefined-glob",
    "version-script",
];

/// One input on the command line, or the border of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A path.
    File(PathBuf, Mode),
    /// The name after `-l`.
    Library(OsString, Mode),
    /// `--start-group`: archives up to `EndGroup` are searched until nothing is needed from them.
    StartGroup,
    /// `--end-group`.
    EndGroup,
}

/// Options that apply to the inputs after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) whole_archive: bool,
    pub(crate) as_needed: bool,
    /// `-Bstatic`: `-l` finds archives alone.
    pub(crate) archives_only: bool,
    /// `--just-symbols`: nothing of the file is copied.
    pub(crate) just_symbols: bool,
    /// `--format binary`: the file is data, whatever it has.
    pub(crate) binary: bool,
}

/// A parsed command line.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) items: Vec<Item>,
    pub(crate) options: Options,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) sysroot: PathBuf,
    /// Symbols that are needed from the start.
    pub(crate) needed: Vec<Vec<u8>>,
    /// Entry points, which are needed as well.
    pub(crate) entries: Vec<Vec<u8>>,
    /// Symbols that the command line defines.
    pub(crate) defined: Vec<Vec<u8>>,
    /// `--wrap`.
    pub(crate) wrapped: Vec<Vec<u8>>,
    /// Linker scripts that replace or extend the default one.
    pub(crate) scripts: Vec<PathBuf>,
    /// Response files that the system does not open.
    pub(crate) unopened: Vec<(PathBuf, io::Error)>,
    /// `--discard-sframe`, as it is written.
    pub(crate) discard_sframe: Option<String>,
    /// An option chooses which symbols a module exports, or names functions to run.
    pub(crate) chooses_symbols: bool,
    /// `--icf`: functions with the same code become one.
    pub(crate) folds: bool,
    /// What could not be understood.
    pub(crate) faults: Vec<String>,
    mode: Mode,
    modes: Vec<Mode>,
    /// What response files may still have; `None` once they had more.
    room: Option<Room>,
}

impl Arguments {
    /// Parses the arguments of a linker, without its own name.
    pub(crate) fn parse(arguments: &[OsString]) -> Arguments {
        let mut parsed = Arguments { room: Some(Room::default()), ..Arguments::default() };
        parsed.add_all(arguments, 0);
        parsed
    }

    fn add_all(&mut self, arguments: &[OsString], depth: u32) {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let bytes = argument.as_bytes();
            match bytes {
                [b'@', file @ ..] if !file.is_empty() => {
                    self.response(Path::new(OsStr::from_bytes(file)), depth)
                }
                b"--discard-sframe" | b"-discard-sframe" => {
                    self.options.discard_sframe = true;
                    self.discard_sframe.get_or_insert(argument.to_string_lossy().into_owned());
                }
                [b'-', b'-', long @ ..] => self.long(long, &mut rest),
                [b'-', short @ ..] if !short.is_empty() => self.short(short, &mut rest),
                _ => self.items.push(Item::File(PathBuf::from(argument), self.mode)),
            }
        }
    }

    /// The arguments in a response file.
    fn response(&mut self, file: &Path, depth: u32) {
        // After the first complaint, further files are not opened.
        let Some(room) = self.room.take() else { return };
        let name = || sframe_record::text::printable_path(file);
        if depth >= DEEPEST {
            self.room = Some(room);
            let named = name();
            return self.fault(format!(
                "{named} is not read: response files are nested more than {DEEPEST} deep"
            ));
        }
        let opened = match open_response(file, depth) {
            Ok(opened) => opened,
            Err(error) => {
                self.room = Some(room);
                return self.unopened.push((file.to_owned(), error));
            }
        };
        let bytes = opened.and_then(|opened| read_start(opened, room.bytes));
        let Some(text) = bytes else {
            self.room = Some(room);
            return self.fault(format!("{} cannot be read", name()));
        };
        let (files, bytes) = (room.files.checked_sub(1), room.bytes.checked_sub(text.len() as u64));
        let (Some(files), Some(bytes)) = (files, bytes) else {
            return self.fault(too_much(&name()));
        };
        let Ok(text) = String::from_utf8(text) else {
            self.room = Some(Room { files, bytes, ..room });
            return self.fault(format!("{} cannot be read", name()));
        };
        let mut words = shlex::Shlex::new(&text);
        let taken = words.by_ref().take(room.arguments.saturating_add(1)).map(OsString::from);
        let taken: Vec<OsString> = taken.collect();
        let Some(arguments) = room.arguments.checked_sub(taken.len()) else {
            return self.fault(too_much(&name()));
        };
        self.room = Some(Room { files, bytes, arguments });
        match words.had_error {
            true => self.fault(format!("{} cannot be read", name())),
            false => self.add_all(&taken, depth.saturating_add(1)),
        }
    }

    /// An option with one dash: a letter with its value, or a long option.
    fn short<'a>(&mut self, text: &'a [u8], rest: &mut impl Iterator<Item = &'a OsString>) {
        if let [b'l' | b'L' | b'u' | b'T' | b'e' | b'z' | b'm' | b'y' | b'h' | b'R', _, ..] = text
            && !is_long(text)
        {
            let (letter, value) = text.split_at(1);
            return self.letter(letter.first().copied().unwrap_or_default(), value);
        }
        match text {
            [letter] if LETTERS.contains(letter) => {
                let value = rest.next().map(|value| value.as_bytes()).unwrap_or_default();
                self.letter(*letter, value);
            }
            b"r" | b"i" => self.options.output = Output::Relocatable,
            b"(" => self.items.push(Item::StartGroup),
            b")" => self.items.push(Item::EndGroup),
            [b'o', ..] if !is_long(text) => {}
            _ => self.long(text, rest),
        }
    }

    fn letter(&mut self, letter: u8, value: &[u8]) {
        match letter {
            b'l' => {
                let name = OsString::from_vec(value.to_vec());
                self.items.push(Item::Library(name, self.mode));
            }
            b'L' => self.folders.push(PathBuf::from(OsStr::from_bytes(value))),
            b'u' => self.needed.push(value.to_vec()),
            b'e' => self.entries.push(value.to_vec()),
            b'b' => self.mode.binary = value == b"binary",
            b'T' | b'c' => self.scripts.push(PathBuf::from(OsStr::from_bytes(value))),
            b'R' if Path::new(OsStr::from_bytes(value)).is_file() => {
                let mode = Mode { just_symbols: true, ..self.mode };
                self.items.push(Item::File(PathBuf::from(OsStr::from_bytes(value)), mode));
            }
            _ => {}
        }
    }

    fn long<'a>(&mut self, text: &'a [u8], rest: &mut impl Iterator<Item = &'a OsString>) {
        let mut parts = text.splitn(2, |byte| *byte == b'=');
        let name = String::from_utf8_lossy(parts.next().unwrap_or_default());
        let name = name.as_ref();
        let value = match parts.next() {
            Some(value) => value,
            None if WITH_VALUE.contains(&name) || name == "sysroot" => {
                rest.next().map(|value| value.as_bytes()).unwrap_or_default()
            }
            None => &[],
        };
        self.chooses_symbols |= CHOOSE_SYMBOLS.contains(&name);
        if !self.mode_option(name) {
            self.valued(name, value);
        }
    }

    /// Options that stand for themselves. Returns whether it is one.
    fn mode_option(&mut self, name: &str) -> bool {
        match name {
            "whole-archive" => self.mode.whole_archive = true,
            "no-whole-archive" => self.mode.whole_archive = false,
            "as-needed" => self.mode.as_needed = true,
            "no-as-needed" => self.mode.as_needed = false,
            "Bstatic" | "dn" | "non_shared" => self.mode.archives_only = true,
            "static" => {
                self.mode.archives_only = true;
                if self.options.output == Output::Program {
                    self.options.output = Output::Static;
                }
            }
            "Bdynamic" | "dy" | "call_shared" => self.mode.archives_only = false,
            "push-state" => self.modes.push(self.mode),
            "pop-state" => self.mode = self.modes.pop().unwrap_or(self.mode),
            "start-group" => self.items.push(Item::StartGroup),
            "end-group" => self.items.push(Item::EndGroup),
            "shared" | "Bshareable" => self.options.output = Output::Shared,
            "pie" | "pic-executable" => self.options.pie = true,
            "no-pie" => self.options.pie = false,
            "relocatable" => self.options.output = Output::Relocatable,
            "wild-experimental-sframe" => self.options.wild_experimental = true,
            "gc-sections" => self.options.gc_sections = true,
            "no-gc-sections" => self.options.gc_sections = false,
            "fatal-warnings" => self.options.fatal_warnings = true,
            "no-fatal-warnings" => self.options.fatal_warnings = false,
            "no-ld-generated-unwind-info" => self.options.no_stub_unwind_info = true,
            "ld-generated-unwind-info" => self.options.no_stub_unwind_info = false,
            "Bsymbolic" | "Bsymbolic-functions" => self.options.symbolic = true,
            _ => return false,
        }
        true
    }

    fn valued(&mut self, name: &str, value: &[u8]) {
        let path = || PathBuf::from(OsStr::from_bytes(value));
        match name {
            "library" => self.letter(b'l', value),
            "format" => self.letter(b'b', value),
            "library-path" => self.letter(b'L', value),
            "entry" => self.entries.push(value.to_vec()),
            "undefined" | "require-defined" => self.needed.push(value.to_vec()),
            "script" | "default-script" => self.scripts.push(path()),
            "just-symbols" => self.letter(b'R', value),
            "sysroot" => self.sysroot = path(),
            "icf" => self.folds = value != b"none",
            "wrap" => self.wrapped.push(value.to_vec()),
            "defsym" => {
                let name = value.split(|byte| *byte == b'=').next().unwrap_or_default();
                self.defined.push(name.trim_ascii().to_vec());
            }
            _ => {}
        }
    }

    fn fault(&mut self, fault: String) {
        // A response file that names itself has the same fault each time.
        if self.faults.len() < 100 && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

/// Opens a response file: one that the command line names may be a pipe, one that another response file names is a regular
/// file. `None` for what is neither.
fn open_response(file: &Path, depth: u32) -> io::Result<Option<File>> {
    match depth {
        0 => match open_named(file) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
            opened => opened.map(Some),
        },
        _ => match open(file)? {
            Opened::File(opened) => Ok(Some(opened)),
            Opened::Folder | Opened::Special(_) => Ok(None),
        },
    }
}

/// The content of a response file: one byte more than `limit` if there are more.
fn read_start(file: File, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn too_much(file: &str) -> String {
    let Room { files, bytes, arguments } = Room::default();
    let (files, mib) = (grouped(files.into()), bytes >> 20);
    format!(
        "{file}: the response files have more than {files} files, {mib} MiB or {} arguments together; \
         what {file} and later ones name is not audited",
        grouped(arguments as u64)
    )
}

/// Whether text after one dash is a long option, although it starts with a letter that takes a value.
fn is_long(text: &[u8]) -> bool {
    let name = text.split(|byte| *byte == b'=').next().unwrap_or(text);
    let known =
        ["Map", "Tbss", "Tdata", "Ttext", "Ttext-segment", "Trodata-segment", "Tldata-segment"];
    let is_known = |known: &&str| known.as_bytes() == name;
    known.iter().any(is_known)
        || WITH_VALUE.iter().any(is_known)
        || matches!(
            name,
            b"oformat"
                | b"use-android-relr-tags"
                | b"emit-relocs"
                | b"export-dynamic"
                | b"eh-frame-hdr"
                | b"end-group"
                | b"enable-new-dtags"
                | b"error-limit"
                | b"relocatable"
                | b"omagic"
                | b"undefined-version"
                | b"Lf"
                | b"library"
                | b"lto-O0"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Arguments {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        Arguments::parse(&words)
    }

    fn names(arguments: &Arguments) -> Vec<String> {
        let name = |item: &Item| match item {
            Item::File(path, _) => path.display().to_string(),
            Item::Library(name, _) => format!("-l{}", name.display()),
            Item::StartGroup => "(".to_owned(),
            Item::EndGroup => ")".to_owned(),
        };
        arguments.items.iter().map(name).collect()
    }

    /// The line that gcc 12 passes to its linker, shortened.
    #[test]
    fn the_line_of_a_driver_is_understood() {
        let parsed = parse(
            "-plugin /lib/p.so -plugin-opt=-pass-through=-lc --build-id --eh-frame-hdr -m elf_x86_64 --hash-style=gnu \
             --as-needed -dynamic-linker /lib64/ld.so -pie -z now -o prog crt1.o -L/usr/lib -L /lib a.o -lm \
             --push-state --no-as-needed -lgcc_s --pop-state -lc crtn.o",
        );
        assert_eq!(names(&parsed), ["crt1.o", "a.o", "-lm", "-lgcc_s", "-lc", "crtn.o"]);
        assert_eq!(parsed.folders, [Path::new("/usr/lib"), Path::new("/lib")]);
        let needed = parsed.items.iter().filter_map(|item| match item {
            Item::Library(_, mode) => Some(mode.as_needed),
            _ => None,
        });
        assert_eq!(needed.collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(parsed.options.output, Output::Program);
    }

    #[test]
    fn options_with_values_are_not_inputs() {
        let parsed = parse(
            "-shared -soname x.so -Map out.map --defsym a=b -u f -e main -T s.ld -rpath /x y.o -r",
        );
        assert_eq!(names(&parsed), ["y.o"]);
        assert_eq!((parsed.needed, parsed.entries), (vec![b"f".to_vec()], vec![b"main".to_vec()]));
        assert_eq!(parsed.scripts, [Path::new("s.ld")]);
        assert_eq!(parsed.defined, [b"a".to_vec()]);
        assert_eq!(parsed.options.output, Output::Relocatable);
    }

    #[test]
    fn groups_and_whole_archives_are_in_order() {
        let parsed = parse(
            "--start-group a.a b.a --end-group -( c.a -) --whole-archive d.a --no-whole-archive e.a",
        );
        assert_eq!(names(&parsed), ["(", "a.a", "b.a", ")", "(", "c.a", ")", "d.a", "e.a"]);
        let whole = parsed.items.iter().filter_map(|item| match item {
            Item::File(_, mode) => Some(mode.whole_archive),
            _ => None,
        });
        assert_eq!(whole.collect::<Vec<_>>(), [false, false, false, true, false]);
    }
}
