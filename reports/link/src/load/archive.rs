//! An archive whose members can be pulled in.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sframe_input::archive::{Content, Damage, members, named_file};
use sframe_input::{FileBytes, MemberCount};
use sframe_record::text::printable_path;

use super::machine::Machine;
use super::names;
use crate::input::MemberName;
use crate::linker::Linker;
use crate::object::{Object, Refusal, Symbols};
use crate::options::Options;

/// The length of `!<arch>` or `!<thin>` and the end of the line.
const MAGIC: usize = 8;

pub(super) struct Archive {
    bytes: FileBytes,
    members: Vec<Member>,
    /// All definitions, in the order of the members.
    symbols: Rc<[(Vec<u8>, usize)]>,
    /// The first member that defines a symbol.
    index: HashMap<Vec<u8>, usize>,
    /// The first member that defines a symbol that is not weak.
    strong: HashMap<Vec<u8>, usize>,
    /// Members of a thin archive whose files cannot be opened.
    unopened: Vec<(MemberName, io::Error)>,
    /// Members that end after the end of the archive.
    truncated: Vec<MemberName>,
}

struct Member {
    name: MemberName,
    place: Place,
    pulled: bool,
}

enum Place {
    Bytes(Range<usize>),
    File(PathBuf),
}

impl Archive {
    /// Reads the symbols of all members. Faults of members are added to `faults`.
    pub(super) fn open(
        linker: Linker,
        path: &Path,
        bytes: FileBytes,
        faults: &mut Vec<String>,
    ) -> Archive {
        let mut symbols = Vec::new();
        let mut archive = Archive {
            bytes,
            members: Vec::new(),
            symbols: Rc::new([]),
            index: HashMap::new(),
            strong: HashMap::new(),
            unopened: Vec::new(),
            truncated: Vec::new(),
        };
        faults.extend(archive.list(linker, path));
        for number in 0..archive.members.len() {
            match archive.with_bytes(number, Symbols::defined_in) {
                Ok(names) => {
                    for (name, weak) in names {
                        if !weak {
                            archive.strong.entry(name.clone()).or_insert(number);
                        }
                        archive.index.entry(name.clone()).or_insert(number);
                        symbols.push((name, number));
                    }
                }
                Err(error) => {
                    let name = archive.members.get(number).map(|member| member.name.clone());
                    archive.unopened.push((name.unwrap_or_default(), error));
                }
            }
        }
        archive.symbols = symbols.into();
        archive
    }

    /// Lists the members, and returns faults.
    fn list(&mut self, linker: Linker, path: &Path) -> Vec<String> {
        let mut faults = Vec::new();
        let mut count = MemberCount::default();
        for member in members(&self.bytes, &mut count) {
            let member = match member {
                Ok(member) => member,
                Err(error) => {
                    faults.push(format!("{}: {error}", printable_path(path)));
                    break;
                }
            };
            let name = names::member(linker, path, Path::new(OsStr::from_bytes(member.name)));
            let start = usize::try_from(member.start).unwrap_or(usize::MAX);
            let (name, place) = match member.content {
                Content::Bytes(bytes) => {
                    (name, Place::Bytes(start..start.saturating_add(bytes.len())))
                }
                Content::File(stored) => {
                    let file = named_file(path, stored);
                    (names::thin_member(linker, path, stored, &file), Place::File(file))
                }
                Content::Damaged(Damage::Truncated) => {
                    self.truncated.push(name);
                    continue;
                }
                Content::Damaged(why @ Damage::Name(_)) => {
                    faults.push(format!("{name}: {why}"));
                    continue;
                }
            };
            self.members.push(Member { name, place, pulled: false });
        }
        faults
            .extend(count.reached().map(|reached| format!("{}: {reached}", printable_path(path))));
        faults
    }

    pub(super) const fn unopened(&self) -> &[(MemberName, io::Error)] {
        self.unopened.as_slice()
    }

    pub(super) const fn truncated(&self) -> &[MemberName] {
        self.truncated.as_slice()
    }

    /// The name and the machine of a member that was not pulled in.
    pub(super) fn machine(&self, number: usize) -> Option<(MemberName, Machine)> {
        let member = self.members.get(number).filter(|member| !member.pulled)?;
        let machine = self.with_bytes(number, Machine::of).ok().flatten()?;
        Some((member.name.clone(), machine))
    }

    /// Makes a member one that was pulled in before.
    pub(super) fn leave_out(&mut self, number: usize) {
        if let Some(member) = self.members.get_mut(number) {
            member.pulled = true;
        }
    }

    /// Whether there is an index of symbols, which comes first. An archive without members needs none.
    pub(super) fn has_index(&self) -> bool {
        let first = self.bytes.get(MAGIC..).unwrap_or_default();
        let names: [&[u8]; 3] = [b"/ ", b"/SYM64/", b"__.SYMDEF"];
        self.members.is_empty() || names.iter().any(|name| first.starts_with(name))
    }

    pub(super) const fn members(&self) -> usize {
        self.members.len()
    }

    pub(super) fn symbols(&self) -> Rc<[(Vec<u8>, usize)]> {
        Rc::clone(&self.symbols)
    }

    pub(super) const fn index(&self) -> &HashMap<Vec<u8>, usize> {
        &self.index
    }

    pub(super) const fn strong(&self) -> &HashMap<Vec<u8>, usize> {
        &self.strong
    }

    /// The members that define some of these symbols, with one of the symbols.
    pub(super) fn wanted<'a>(
        &self,
        needed: impl Iterator<Item = &'a Vec<u8>>,
    ) -> BTreeMap<usize, Vec<u8>> {
        let mut wanted: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for name in needed {
            if let Some(&member) = self.index.get(name) {
                let first = wanted.entry(member).or_insert_with(|| name.clone());
                if name < first {
                    first.clone_from(name);
                }
            }
        }
        wanted
    }

    /// Reads a member, unless it was pulled in before.
    ///
    /// An error has the name of the member.
    pub(super) fn pull(
        &mut self,
        number: usize,
        options: &Options,
    ) -> Option<Result<Object, (MemberName, Refusal)>> {
        let member = self.members.get_mut(number)?;
        if std::mem::replace(&mut member.pulled, true) {
            return None;
        }
        let name = member.name.clone();
        let read = self.with_bytes(number, |bytes| Object::read(&name.printed, bytes, options));
        Some(match read {
            Ok(Ok(mut object)) => {
                object.input.member = Some(name);
                Ok(object)
            }
            Ok(Err(refusal)) => Err((name, refusal)),
            Err(error) => Err((name, Refusal::Fault(error.to_string()))),
        })
    }

    fn with_bytes<T>(&self, number: usize, read: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
        let missing = || io::Error::other("a member is missing");
        let member = self.members.get(number).ok_or_else(missing)?;
        match &member.place {
            Place::Bytes(range) => {
                let bytes = self.bytes.get(range.clone()).unwrap_or_default();
                Ok(read(bytes))
            }
            Place::File(file) => Ok(read(&FileBytes::open(file)?)),
        }
    }
}
