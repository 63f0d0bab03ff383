//! Checks one input.

use std::fs::File;
use std::io::Seek;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use sframe_validator::elf::ElfError;
use sframe_validator::finding::Keep;

use super::elf_file::parsed;
use super::file::{check_elf_file, check_raw, unsupported};
use super::link_inputs::LinkInputs;
use super::options::CheckOptions;
use super::package;
use super::piece::{Piece, Visit};
use super::seen::{Origin, Seen, Subject};
use super::verdict::{Checked, Verdict};
use crate::describe::Content;
use sframe_input::archive::{self, Members};
use sframe_input::kind::{HEAD, Kind};
use sframe_input::package::Unpacker;
use sframe_input::repository::Entry;
use sframe_input::{FileBytes, Input, Opened, Spooled, open, plain_error};
use sframe_record::text::printable_path;
use sframe_record::{FileName, Record, Status, Tail};

/// The number of members of an archive that are checked at a time. Their records are in memory until the first of them
/// is done.
const MEMBERS_AT_A_TIME: usize = 64;

/// The file that contains some bytes, and their offset in it; `None` if they cannot be read again.
type Stored<'s> = Option<(&'s FileBytes, u64)>;

fn intact(stored: Stored<'_>) -> io::Result<()> {
    stored.map_or(Ok(()), |(file, _)| file.intact())
}

/// Hands over a record if a file could not be read to its end.
fn unless_unreadable(name: &FileName, result: io::Result<()>, visit: Visit<'_>) {
    if let Err(error) = result {
        let record = Record::because(Status::Unreadable, plain_error(&error));
        visit(record.named(name).into());
    }
}

/// Checks inputs. The threads of a scan share one.
#[derive(Debug)]
pub struct Checker<'o> {
    pub(crate) options: &'o CheckOptions,
    unpacker: Unpacker,
    seen: Seen,
}

impl<'o> Checker<'o> {
    /// A checker that knows no files yet.
    #[must_use]
    pub fn new(options: &'o CheckOptions) -> Checker<'o> {
        let unpacker = Unpacker::new(options.limits);
        Checker { options, unpacker, seen: Seen::new(options.remembered) }
    }

    /// Checks an input. Hands over one record for a file, and one for each member of an archive or package, as soon as it
    /// is complete.
    pub fn input(&self, input: Input, visit: Visit<'_>) {
        let (path, record) = match input {
            Input::File(path) | Input::Image(path) => {
                return guarded(path.clone(), visit, |visit| self.file(path, visit));
            }
            Input::Content(name, content) => {
                return guarded(name.clone(), visit, |visit| self.nameless(name, &content, visit));
            }
            Input::Special(path, kind) => (path, Record::because(Status::Special, kind.id())),
            Input::Unreadable(path, error) => (path, Record::because(Status::Unreadable, error)),
        };
        visit(record.named(&FileName::file(path)).into());
    }

    /// Checks an entry of a repository. Hands over one record for each member of a package.
    pub fn entry(&self, entry: Entry, visit: Visit<'_>) {
        match entry {
            Entry::Package(listed) => {
                guarded(listed.address(), visit, |visit| {
                    package::check_listed(self, &self.unpacker, &listed, visit);
                });
            }
            Entry::Unreadable(path, error) => {
                visit(
                    Record::because(Status::Unreadable, error).named(&FileName::file(path)).into(),
                );
            }
        }
    }

    fn file(&self, path: PathBuf, visit: Visit<'_>) {
        let name = FileName::file(path);
        unless_unreadable(&name, self.try_file(&name, visit), visit);
    }

    /// Checks content without a path. Content of no known kind is an error: it was given to be checked.
    fn nameless(&self, name: PathBuf, content: &Spooled, visit: Visit<'_>) {
        let name = FileName::file(name);
        let mut checked = |piece: Piece| match &piece.head {
            Some(head) if head.status == Status::NotElf && head.inside.is_none() => {
                let is_empty = head.reason.as_deref() == Some("empty");
                let reason = match is_empty {
                    true => "it is empty",
                    false => {
                        "not an ELF file, archive or package (--raw: a bare section; \
                         --files-from -: a list of paths)"
                    }
                };
                visit(Record::because(Status::Unreadable, reason).named(&name).into());
            }
            _ => visit(piece),
        };
        let opened = content.file().and_then(|file| self.opened(&name, file, &mut checked));
        unless_unreadable(&name, opened, visit);
    }

    /// Checks a folder that is a container image, provided that packages are unpacked.
    fn image(&self, name: FileName, visit: Visit<'_>) {
        if self.options.limits.depth > 0 && self.options.raw.is_none() {
            return package::check_image(self, &self.unpacker, &name, visit);
        }
        visit(Record::new(Status::NotElf).named(&name).into());
    }

    fn try_file(&self, name: &FileName, visit: Visit<'_>) -> io::Result<()> {
        match open(&name.path)? {
            Opened::File(file) => return self.opened(name, file, visit),
            Opened::Folder => self.image(name.clone(), visit),
            Opened::Special(kind) => {
                visit(Record::because(Status::Special, kind.id()).named(name).into());
            }
        }
        Ok(())
    }

    /// Checks a file whose kind is decided by its first bytes: most files of a distribution need no check, and mapping
    /// them would cost more than anything else.
    fn opened(&self, name: &FileName, mut file: File, visit: Visit<'_>) -> io::Result<()> {
        let kind = match self.options.raw {
            Some(_) => Kind::Elf,
            None => {
                let mut head = [0; HEAD];
                let length = file.read(&mut head)?;
                Kind::of(head.get(..length).unwrap_or_default())
            }
        };
        let verdict = match kind {
            Kind::Elf => {
                let data = FileBytes::of(file)?;
                self.bytes(name, &data, Some((&data, 0)), visit);
                return Ok(());
            }
            Kind::Archive => {
                let data = FileBytes::of(file)?;
                let mut count = self.options.member_count();
                let mut members = archive::members(&data, &mut count);
                self.archive(name, &mut members, Some(&data), visit);
                return members.reached().map_or(Ok(()), |why| Err(io::Error::other(why)));
            }
            Kind::Package(_) if self.options.limits.depth > 0 => {
                file.rewind()?;
                package::check(self, &self.unpacker, name, &file, visit);
                return Ok(());
            }
            Kind::Empty => Verdict::empty(),
            Kind::LinuxImage => Verdict::linux_image(),
            Kind::Package(_) | Kind::Other => Status::NotElf.into(),
        };
        verdict.hand_over(name, visit);
        Ok(())
    }

    /// Checks the members of the archive called `name`; `file` is the file that contains its bytes, if there is one.
    fn archive(
        &self,
        name: &FileName,
        members: &mut Members<'_>,
        file: Option<&FileBytes>,
        visit: Visit<'_>,
    ) {
        let check = |member: &archive::Member<'_>| {
            let name = name.member_of(member.name.to_vec());
            let stored = file.map(|file| (file, member.start));
            (self.member(&name, member, stored), name)
        };
        let (mut inputs, mut failed) = (LinkInputs::default(), None);
        let at_a_time = match self.options.validator.keep {
            Keep::First(_) => MEMBERS_AT_A_TIME,
            // Each may have thousands of findings.
            Keep::All => rayon::current_num_threads(),
        };
        while !self.options.is_stopped() {
            let sound =
                members.by_ref().map_while(|member| member.map_err(|why| failed = Some(why)).ok());
            let some: Vec<archive::Member<'_>> = sound.take(at_a_time).collect();
            if some.is_empty() {
                break;
            }
            let checked: Vec<(Verdict, FileName)> = some.par_iter().map(check).collect();
            for ((verdict, name), member) in checked.into_iter().zip(&some) {
                inputs.add(&verdict.checked.record, member.name);
                verdict.hand_over(&name, visit);
            }
        }
        if let Some(record) = inputs.check(name, self.options) {
            visit(record.into());
        }
        if let Some(why) = failed {
            visit(Record::because(Status::Unreadable, why.to_string()).named(name).into());
        }
    }

    /// Checks the member called `name` of an archive.
    fn member(&self, name: &FileName, member: &archive::Member<'_>, stored: Stored<'_>) -> Verdict {
        match &member.content {
            archive::Content::Bytes(bytes) => self.verdict(name, bytes, stored),
            archive::Content::File(_) if name.inside.is_some() => {
                let reason = "a thin archive in a package: its members are elsewhere";
                Verdict::because(Status::Unreadable, reason)
            }
            archive::Content::File(path) => {
                let path = archive::named_file(&name.path, path);
                match FileBytes::open(&path) {
                    Ok(data) => {
                        let stored = Some((&data, 0));
                        self.verdict(&FileName::file(path.clone()), &data, stored)
                    }
                    Err(error) => {
                        let reason = format!("{}: {}", printable_path(&path), plain_error(&error));
                        Verdict::because(Status::Unreadable, reason)
                    }
                }
            }
            archive::Content::Damaged(damage) => {
                Verdict::because(Status::Unreadable, damage.to_string())
            }
        }
    }

    /// Checks the file called `name`, whose bytes are `data`.
    fn bytes(&self, name: &FileName, data: &[u8], stored: Stored<'_>, visit: Visit<'_>) {
        self.verdict(name, data, stored).hand_over(name, visit);
    }

    /// The verdict on the file called `name`, whose bytes are `data`.
    fn verdict(&self, name: &FileName, data: &[u8], stored: Stored<'_>) -> Verdict {
        let verdict = self.checked(name, data, stored);
        match intact(stored) {
            Ok(()) => verdict,
            Err(error) => Verdict::because(Status::Unreadable, plain_error(&error)),
        }
    }

    /// The verdict on bytes, even if the file has changed in the meantime.
    fn checked(&self, name: &FileName, data: &[u8], stored: Stored<'_>) -> Verdict {
        let options = self.options;
        if let Some(raw) = options.raw {
            return Verdict::of(check_raw(data, raw, options));
        }
        if data.is_empty() {
            return Verdict::empty();
        }
        let with_large_holes = stored.is_some_and(|(file, _)| file.has_large_holes());
        let content = || if with_large_holes { None } else { self.content(data) };
        let elf = match parsed(data, options) {
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
        let check = || -> io::Result<Arc<Checked>> {
            let checked = Arc::new(check_elf_file(&path, &elf, options));
            // The record must belong to the bytes that are remembered with it.
            intact(stored).map(|()| checked)
        };
        // Checking a file without a section is faster than finding out whether its bytes are known.
        let is_quick = !options.coverage && elf.sframe_sections().next().is_none();
        let checked = if is_quick || with_large_holes {
            check()
        } else {
            let subject = Subject {
                data,
                content,
                path: options.looks_beside_files().then_some(&path),
                origin: stored.map(|(file, start)| Origin {
                    path: name.path.clone(),
                    stamp: file.stamp(),
                    start,
                }),
            };
            self.seen.or_check(subject, check)
        };
        match checked {
            Ok(checked) => Verdict { checked, content },
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
    fn archive(&self, name: &FileName, members: &mut Members<'_>, visit: Visit<'_>) {
        Checker::archive(self, name, members, None, visit);
    }

    fn bytes(&self, name: &FileName, data: &[u8], visit: Visit<'_>) {
        Checker::bytes(self, name, data, None, visit);
    }

    fn is_stopped(&self) -> bool {
        self.options.is_stopped()
    }
}

/// Runs `check` on the file at `path`. If it panics, only the results for this file are lost.
fn guarded(path: PathBuf, visit: Visit<'_>, check: impl FnOnce(Visit<'_>)) {
    let mut is_started = false;
    let mut noted = |piece: Piece| {
        is_started = piece.tail.is_none();
        visit(piece);
    };
    // After a panic only the state of this input may be inconsistent: locks that are shared ignore poisoning.
    let checked = panic::catch_unwind(AssertUnwindSafe(|| check(&mut noted)));
    if let Err(panic) = checked {
        if is_started {
            visit(Piece { tail: Some(Tail::default()), ..Piece::default() });
        }
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let reason = match message {
            Some(message) => format!("its checker panicked: {message}"),
            None => "its checker panicked".to_owned(),
        };
        visit(Record::because(Status::Crashed, reason).named(&FileName::file(path)).into());
    }
}
