//! The sections of a file, or of the members of an archive or package.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use sframe_input::archive::{self, Members};
use sframe_input::kind::{HEAD, Kind};
use sframe_input::package::{self, Unpacker};
use sframe_input::{FileBytes, Input, Opened, RawOptions, SectionSource, open, plain_error};
use sframe_record::text::{printable, printable_path};
use sframe_validator::elf::{Elf, ElfError};

use super::error::Unmeasurable;
use super::{Sizes, of_section};

const NO_KIND: &str = "not an ELF file, archive or package (--raw: a bare section)";
const CLOSED: &str = "a package, which is not opened with --max-depth 0";

/// What is measured.
#[derive(Debug)]
pub struct Options {
    /// The files are bare sections.
    pub raw: Option<RawOptions>,
    /// Opens packages, within limits.
    pub unpacker: Unpacker,
    /// Changes of the format are estimated as well.
    pub what_if: bool,
}

/// Takes the sizes of a section, or what cannot be measured.
pub type Visit<'f> = &'f mut dyn FnMut(Result<Sizes, NotMeasured>);

/// A file or section that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMeasured {
    /// The name of the file.
    pub name: String,
    /// Why, with the place in the section: `sfp_magic at section offset 0x0: magic 0x0000 is not 0xdee2`.
    pub reason: String,
}

impl NotMeasured {
    fn new(name: &str, reason: impl fmt::Display) -> NotMeasured {
        NotMeasured { name: name.to_owned(), reason: reason.to_string() }
    }

    /// Why, without the place: the same for all files with one cause.
    #[must_use]
    pub fn cause(&self) -> &str {
        self.reason.rsplit(": ").next().unwrap_or(&self.reason)
    }
}

/// How an input was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// Its own name: a file of another kind is an error.
    Name,
    /// A walk through a folder, where files of other kinds are usual.
    Folder,
}

/// Measures the sections of an input.
pub fn measure(input: &Input, found: FoundBy, options: &Options, visit: Visit<'_>) {
    let mut of = Measuring { options, visit };
    let (path, measured) = match input {
        Input::File(path) => (path, of.path(path)),
        Input::Image(path) => (path, of.image(path)),
        Input::Content(path, content) => {
            let file = content.file();
            (path, file.and_then(|file| of.file(&printable_path(path), path, file)))
        }
        Input::Special(path, kind) if found == FoundBy::Name => {
            let reason = format!("it is not a regular file: {}", kind.name());
            (path, Err(io::Error::other(reason)))
        }
        Input::Special(..) => return,
        Input::Unreadable(path, reason) => (path, Err(io::Error::other(reason.clone()))),
    };
    let name = printable_path(path);
    match measured {
        Ok(Some(reason)) if found == FoundBy::Name => of.failed(&name, reason),
        Ok(_) => {}
        Err(error) => of.failed(&name, &plain_error(&error)),
    }
}

/// Measures one input. Its functions return why a file is not measured, `None` if it is.
struct Measuring<'m> {
    options: &'m Options,
    visit: Visit<'m>,
}

impl Measuring<'_> {
    fn failed(&mut self, name: &str, reason: &str) {
        (self.visit)(Err(NotMeasured::new(name, reason)));
    }

    fn path(&mut self, path: &Path) -> io::Result<Option<&'static str>> {
        match open(path)? {
            Opened::File(file) => self.file(&printable_path(path), path, file),
            Opened::Folder | Opened::Special(_) => Ok(Some(NO_KIND)),
        }
    }

    fn image(&mut self, path: &Path) -> io::Result<Option<&'static str>> {
        let name = printable_path(path);
        let unpacker = &self.options.unpacker;
        let mut visit = |member: package::Member<'_>| self.unpacked(&name, member);
        unpacker.visit_image(path, &mut visit).map_err(io::Error::other)?;
        Ok(None)
    }

    /// Measures a file, whose kind its first bytes say.
    fn file(
        &mut self,
        name: &str,
        path: &Path,
        mut file: File,
    ) -> io::Result<Option<&'static str>> {
        if let Some(raw) = self.options.raw {
            let data = FileBytes::of(file)?;
            let sizes = of_section(name, &SectionSource::bare(&data, raw), None, self.options);
            data.intact()?;
            (self.visit)(sizes.map_err(|error| NotMeasured::new(name, error)));
            return Ok(None);
        }
        let mut head = [0; HEAD];
        let length = file.read(&mut head)?;
        match Kind::of(head.get(..length).unwrap_or_default()) {
            Kind::Elf => {
                let data = FileBytes::of(file)?;
                self.elf(name, &data);
                data.intact()?;
            }
            Kind::Archive => {
                let data = FileBytes::of(file)?;
                let mut count = self.options.unpacker.limits().member_count();
                let mut members = archive::members(&data, &mut count);
                self.archive(name, Some(path), &mut members);
                data.intact()?;
            }
            Kind::Package(_) if self.options.unpacker.limits().depth > 0 => {
                file.rewind()?;
                let unpacker = &self.options.unpacker;
                let mut visit = |member: package::Member<'_>| self.unpacked(name, member);
                unpacker.visit(&file, &mut visit).map_err(io::Error::other)?;
            }
            Kind::Package(_) => return Ok(Some(CLOSED)),
            Kind::Empty | Kind::LinuxImage | Kind::Other => return Ok(Some(NO_KIND)),
        }
        Ok(None)
    }

    /// Measures a file of the package with this name.
    fn unpacked(&mut self, package: &str, member: package::Member<'_>) {
        let name = match member.name {
            Some(inside) => format!("{package}!{}", printable(inside)),
            None => package.to_owned(),
        };
        match member.content {
            package::Content::Elf(data) => self.elf(&name, data),
            package::Content::Archive(mut members) => self.archive(&name, None, &mut members),
            package::Content::Unreadable(reason) => self.failed(&name, &reason),
            package::Content::LinuxImage
            | package::Content::Other
            | package::Content::Empty
            | package::Content::Special(_) => {}
        }
    }

    /// Measures the members of an archive. A thin one, at a path, says where they are.
    fn archive(&mut self, name: &str, path: Option<&Path>, members: &mut Members<'_>) {
        for member in members.by_ref() {
            let member = match member {
                Ok(member) => member,
                Err(error) => return self.failed(name, &error.to_string()),
            };
            let of = format!("{name}({})", printable(member.name));
            match (member.content, path) {
                (archive::Content::Bytes(data), _) => self.elf(&of, data),
                (archive::Content::File(member), Some(path)) => {
                    match FileBytes::open(&archive::named_file(path, member)) {
                        Ok(data) => self.elf(&of, &data),
                        Err(error) => self.failed(&of, &plain_error(&error)),
                    }
                }
                (archive::Content::File(_), None) => {
                    self.failed(&of, "a thin archive in a package: its members are elsewhere");
                }
                (archive::Content::Damaged(damage), _) => self.failed(&of, &damage.to_string()),
            }
        }
        if let Some(limit) = members.reached() {
            self.failed(name, &limit.to_string());
        }
    }

    /// Measures the sections of an ELF file. Members of archives may be something else.
    fn elf(&mut self, name: &str, data: &[u8]) {
        let elf = match Elf::parse(data) {
            Ok(elf) => elf,
            Err(ElfError::NotElf) => return,
            Err(error) => return self.failed(name, &error.to_string()),
        };
        for content in elf.sframe_contents() {
            let source = SectionSource::of(&content).map_err(Unmeasurable::Elf);
            let sizes = source.and_then(|of| of_section(name, &of, Some(&elf), self.options));
            (self.visit)(sizes.map_err(|error| NotMeasured::new(name, error)));
        }
    }
}
