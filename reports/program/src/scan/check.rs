//! What one worker does with one input.

use std::io::Seek;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sframe_validator::Endian;
use sframe_validator::check::{check_elf, check_section};
use sframe_validator::elf::{Class, Elf, ElfError, ElfKind};

use super::compare;
use super::link_inputs::LinkInputs;
use super::options::CheckOptions;
use super::package;
use super::seen::{Origin, Seen, Subject};
use super::verdict::{Found, Verdict};
use crate::record::{Comparison, Content, Names, checked, producers};
use sframe_input::archive::{self, Members};
use sframe_input::kind::{HEAD, Kind};
use sframe_input::repository::Entry;
use sframe_input::{
    FileBytes, Input, Opened, RawOptions, SectionSource, open, plain_error, sframe_sections,
};
use sframe_record::text::printable_path;
use sframe_record::{FileName, Record, Status};

/// How many members of an archive are checked at a time: their records are held until the first of
/// them is done.
const MEMBERS_AT_A_TIME: usize = 64;

/// What the workers of a scan share.
#[derive(Debug)]
pub struct Checker<'o> {
    pub(crate) options: &'o CheckOptions,
    seen: Seen,
}

impl<'o> Checker<'o> {
    /// A checker that has seen nothing yet.
    #[must_use]
    pub fn new(options: &'o CheckOptions) -> Checker<'o> {
        Checker { options, seen: Seen::new(options.remembered) }
    }

    /// Checks an input: one record for a file, one for each member of an archive or package, each
    /// as soon as it is made.
    pub fn input(&self, input: Input, found: Found<'_>) {
        let (path, record) = match input {
            Input::File(path) | Input::Image(path) => {
                return guarded(path.clone(), found, |found| self.file(path, found));
            }
            Input::Special(path, kind) => (path, Record::because(Status::Special, kind.id())),
            Input::Unreadable(path, error) => (path, Record::because(Status::Unreadable, error)),
        };
        found(record.named(&FileName::file(path)));
    }

    /// Checks what a repository lists: one record for each member of a package.
    pub fn entry(&self, entry: Entry, found: Found<'_>) {
        match entry {
            Entry::Package(listed) => {
                guarded(listed.address(), found, |found| {
                    package::check_listed(self, &self.options.limits, &listed, found);
                });
            }
            Entry::Unreadable(path, error) => {
                found(Record::because(Status::Unreadable, error).named(&FileName::file(path)));
            }
        }
    }

    fn file(&self, path: PathBuf, found: Found<'_>) {
        let name = FileName::file(path);
        match self.try_file(&name, found) {
            Ok(()) => {}
            Err(error) => {
                found(Record::because(Status::Unreadable, plain_error(&error)).named(&name))
            }
        }
    }

    /// A folder that is a container image, where packages are opened at all.
    fn image(&self, name: FileName, found: Found<'_>) {
        if self.options.limits.depth > 0 && self.options.raw.is_none() {
            return package::check_image(self, &self.options.limits, &name, found);
        }
        found(Record::new(Status::NotElf).named(&name));
    }

    /// Most of a distribution's files are of no interest, and mapping them costs more than everything
    /// else that is done with them: their first bytes decide.
    fn try_file(&self, name: &FileName, found: Found<'_>) -> io::Result<()> {
        let mut file = match open(&name.path)? {
            Opened::File(file) => file,
            Opened::Folder => {
                self.image(name.clone(), found);
                return Ok(());
            }
            Opened::Special(kind) => {
                found(Record::because(Status::Special, kind.id()).named(name));
                return Ok(());
            }
        };
        let kind = match self.options.raw {
            Some(_) => Kind::Elf,
            None => {
                let mut head = [0; HEAD];
                let length = file.read(&mut head)?;
                Kind::of(head.get(..length).unwrap_or_default())
            }
        };
        let verdict = match kind {
            Kind::Elf => self.mapped(name, &FileBytes::of(file)?),
            Kind::Archive => {
                let data = FileBytes::of(file)?;
                let mut count = self.options.member_count();
                let mut members = archive::members(&data, &mut count);
                self.archive(name, &mut members, Some(&data), found);
                return members.reached().map_or(Ok(()), |why| Err(io::Error::other(why)));
            }
            Kind::Package(_) if self.options.limits.depth > 0 => {
                file.rewind()?;
                package::check(self, &self.options.limits, name, &file, found);
                return Ok(());
            }
            Kind::Empty => Verdict::empty(),
            Kind::Package(_) | Kind::Other => Status::NotElf.into(),
        };
        found(verdict.named(name));
        Ok(())
    }

    fn mapped(&self, name: &FileName, data: &FileBytes) -> Verdict {
        self.bytes(name, data, Some((data, 0)))
    }

    /// Checks the members of the archive called `name`, which has the bytes of `file`, where they are one's.
    fn archive(
        &self,
        name: &FileName,
        members: &mut Members<'_>,
        file: Option<&FileBytes>,
        found: Found<'_>,
    ) {
        let check = |member: archive::Member<'_>| {
            let name = name.member_of(member.name.to_vec());
            let verdict = match member.content {
                archive::Content::Bytes(bytes) => {
                    self.bytes(&name, bytes, file.map(|file| (file, member.start)))
                }
                archive::Content::File(_) if name.inside.is_some() => {
                    let reason = "a thin archive in a package: its members are elsewhere";
                    Verdict::because(Status::Unreadable, reason)
                }
                archive::Content::File(path) => {
                    self.thin_member(&archive::named_file(&name.path, path))
                }
                archive::Content::Damaged(error) => Verdict::because(Status::Unreadable, error),
            };
            verdict.named(&name)
        };
        let (mut inputs, mut failed) = (LinkInputs::default(), None);
        while !self.options.is_stopped() {
            let sound =
                members.by_ref().map_while(|member| member.map_err(|why| failed = Some(why)).ok());
            let some: Vec<archive::Member<'_>> = sound.take(MEMBERS_AT_A_TIME).collect();
            if some.is_empty() {
                break;
            }
            let records: Vec<Record<'static>> = some.into_par_iter().map(check).collect();
            for record in records {
                inputs.add(&record);
                found(record);
            }
        }
        if let Some(record) = inputs.check(name, self.options) {
            found(record);
        }
        if let Some(why) = failed {
            found(Record::because(Status::Unreadable, why).named(name));
        }
    }

    fn thin_member(&self, path: &Path) -> Verdict {
        match FileBytes::open(path) {
            Ok(data) => self.mapped(&FileName::file(path.to_owned()), &data),
            Err(error) => {
                let reason = format!("{}: {}", printable_path(path), plain_error(&error));
                Verdict::because(Status::Unreadable, reason)
            }
        }
    }

    /// Checks the file called `name`, of which `data` are the bytes; where they can be read again, `stored`
    /// says in which file and from where on.
    fn bytes(&self, name: &FileName, data: &[u8], stored: Option<(&FileBytes, u64)>) -> Verdict {
        let verdict = self.checked(name, data, stored);
        match stored.map_or(Ok(()), |(file, _)| file.intact()) {
            Ok(()) => verdict,
            Err(error) => Verdict::because(Status::Unreadable, plain_error(&error)),
        }
    }

    /// The same, whatever happened to the file meanwhile.
    fn checked(&self, name: &FileName, data: &[u8], stored: Option<(&FileBytes, u64)>) -> Verdict {
        let options = self.options;
        if let Some(raw) = options.raw {
            return Verdict::of(check_raw(data, raw, options));
        }
        if data.is_empty() {
            return Verdict::empty();
        }
        let with_large_holes = stored.is_some_and(|(file, _)| file.has_large_holes());
        let content = || if with_large_holes { None } else { self.content(data) };
        let elf = match Elf::parse(data) {
            Ok(elf) => elf,
            Err(ElfError::NotElf) => return Status::NotElf.into(),
            Err(error) => {
                let reason = format!("damaged ELF file: {error}");
                return Verdict {
                    content: content(),
                    ..Verdict::because(Status::Unreadable, reason)
                };
            }
        };
        let content = content();
        if let Some(kind) = unsupported(&elf) {
            return Verdict { content, ..Verdict::because(Status::Unsupported, kind) };
        }
        let path = name.installed();
        let check = || {
            let record = Arc::new(check_elf_file(&path, &elf, options));
            // What is known of a file's bytes must not be what was found in others.
            stored.map_or(Ok(()), |(file, _)| file.intact()).map(|()| record)
        };
        // To look at a file without a section takes less than to find out whether it is known.
        let is_quick = !options.coverage && elf.sframe_sections().next().is_none();
        let record = if is_quick || with_large_holes {
            check()
        } else {
            let subject = Subject {
                data,
                content,
                path: (!options.debug_dirs.is_empty()).then_some(&path),
                origin: stored.map(|(file, start)| Origin {
                    path: name.path.clone(),
                    stamp: file.stamp(),
                    start,
                }),
            };
            self.seen.or_check(subject, check)
        };
        match record {
            Ok(record) => Verdict { record, content },
            Err(error) => {
                Verdict { content, ..Verdict::because(Status::Unreadable, plain_error(&error)) }
            }
        }
    }

    fn content(&self, data: &[u8]) -> Option<Content> {
        self.options.hash.then(|| Content::of(data))
    }
}

impl package::Members for Checker<'_> {
    fn archive(&self, name: &FileName, members: &mut Members<'_>, found: Found<'_>) {
        Checker::archive(self, name, members, None, found);
    }

    fn bytes(&self, name: &FileName, data: &[u8]) -> Verdict {
        Checker::bytes(self, name, data, None)
    }

    fn is_stopped(&self) -> bool {
        self.options.is_stopped()
    }
}

/// A defect of this program must not cost more than the file at `path`, which shows it.
fn guarded(path: PathBuf, found: Found<'_>, check: impl FnOnce(Found<'_>)) {
    // What a panic leaves behind is this input's own, but for locks, which are not poisoned.
    let checked = panic::catch_unwind(AssertUnwindSafe(|| check(found)));
    if let Err(panic) = checked {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let reason = match message {
            Some(message) => format!("its checker panicked: {message}"),
            None => "its checker panicked".to_owned(),
        };
        found(Record::because(Status::Crashed, reason).named(&FileName::file(path)));
    }
}

/// Checks bytes that are one section and nothing else.
fn check_raw(data: &[u8], raw: RawOptions, options: &CheckOptions) -> Record<'static> {
    let mut report = check_section(data, raw.placement(), &options.validator);
    options.select(&mut report);
    let source = SectionSource::bare(data, raw);
    checked(report, &[source], &Names::of(None), Comparison::default())
}

/// Checks a file, and compares it with its CFI; `path` is where it is installed.
fn check_elf_file(path: &Path, elf: &Elf<'_>, options: &CheckOptions) -> Record<'static> {
    let names = Names::of(Some(elf));
    let sources: Vec<SectionSource<'_>> = sframe_sections(elf).filter_map(Result::ok).collect();
    let (mut report, comparison) = if compare::is_wanted(elf, options) {
        compare::check_and_compare(path, elf, &sources, &names, options)
    } else {
        (check_elf(elf, &options.validator), Comparison::default())
    };
    options.select(&mut report);
    let mut record = checked(report, &sources, &names, comparison);
    if options.producers {
        record.producers = producers(elf);
    }
    record
}

/// The kind of an ELF file that SFrame is not defined for. One that has a section all the same is
/// checked: that it should have none is a finding.
fn unsupported(elf: &Elf<'_>) -> Option<String> {
    if elf.sframe_sections().next().is_some() {
        return None;
    }
    if elf.kind() == ElfKind::Other(4) {
        return Some("core file".to_owned());
    }
    if elf.class() == Class::Elf64 && elf.abi().is_some() {
        return None;
    }
    let bits = match elf.class() {
        Class::Elf32 => 32,
        Class::Elf64 => 64,
    };
    Some(format!("{bits}-bit {}", machine_name(elf)))
}

fn machine_name(elf: &Elf<'_>) -> String {
    let name = match elf.machine() {
        2 | 18 | 43 => "SPARC",
        3 => "x86",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "s390",
        40 => "Arm",
        50 => "Itanium",
        62 => "x86-64",
        183 => "AArch64",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        other => return format!("machine {other}"),
    };
    match elf.endian() {
        Endian::Big if matches!(elf.machine(), 62 | 183) => format!("big-endian {name}"),
        Endian::Little if elf.machine() == 22 => format!("little-endian {name}"),
        Endian::Little | Endian::Big => name.to_owned(),
    }
}
