//! Prints whole sections: header, functions and rows. Parts that cannot be read are reported in their place, and the
//! dump continues after them.

mod gnu;
mod line;
mod plain;
mod selection;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use sframe_validator::elf::{Elf, ElfError, ElfKind, SymbolTable};
use sframe_validator::{Endian, Section};

use sframe_input::archive::{self, Content};
use sframe_input::package::{self, Limits, Member, Unpacker, Visitor};
use sframe_input::{FileBytes, MemberCount, RawOptions, SectionSource, open_file, plain_error};
use sframe_record::text::{printable, printable_path};

pub use selection::Selection;

/// The layout of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Our own layout: decoded fields, symbols, names of registers, section offsets.
    #[default]
    Plain,
    /// The output of GNU objdump without the lines that name the file: binutils 2.40 for version 1, 2.44 for version
    /// 2 with section-relative addresses, 2.47.50 for everything else.
    Gnu,
}

/// What a dump prints, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpOptions {
    /// The layout.
    pub style: Style,
    /// If set, the file is a bare section with these properties.
    pub raw: Option<RawOptions>,
    /// The functions to print. [`Style::Gnu`] prints all of them.
    pub selection: Selection,
}

/// The result of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of sections that were printed, completely or in part.
    pub sections: u64,
    /// The number of files, members, sections and places in sections that could not be read.
    pub unreadable: u64,
}

/// What to do if a file has none of the selected functions.
const NOT_FOUND: &str =
    "the section describes no such function; without --function and --pc, dump prints all";

/// Prints every SFrame section of the file or archive at `path`. Writes a line to `complaints` for each unreadable
/// part that has no place in the output.
///
/// # Errors
/// Returns an error if writing fails.
pub fn dump_file(
    path: &Path,
    options: &DumpOptions,
    out: &mut dyn Write,
    complaints: &mut dyn Write,
) -> io::Result<Outcome> {
    let outcome = Outcome::default();
    let mut dump = Dump { options, out, complaints, outcome, has_section: false };
    let name = printable_path(path);
    let data = match FileBytes::open(path) {
        Ok(data) => data,
        Err(error) => {
            dump.complain(&name, &plain_error(&error))?;
            return Ok(dump.outcome);
        }
    };
    match options.raw {
        Some(raw) => dump.section(&name, &SectionSource::bare(&data, raw), None)?,
        None if archive::is_archive(&data) => dump.archive(path, &data)?,
        None if package::is_package(&data) => dump.package(path)?,
        None => dump.elf(&name, &data)?,
    }
    if dump.outcome.sections == 0 && !options.selection.is_all() {
        match (dump.has_section, dump.outcome.unreadable) {
            (true, _) => dump.complain(&name, NOT_FOUND)?,
            (false, 0) => dump.complain(&name, "no .sframe section")?,
            (false, _) => {}
        }
    }
    if let Err(error) = data.intact() {
        dump.complain(&name, &plain_error(&error))?;
    }
    Ok(dump.outcome)
}

struct Dump<'w> {
    options: &'w DumpOptions,
    out: &'w mut dyn Write,
    complaints: &'w mut dyn Write,
    outcome: Outcome,
    /// A section was read.
    has_section: bool,
}

impl Dump<'_> {
    fn archive(&mut self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut count = MemberCount::default();
        let mut members = archive::members(data, &mut count);
        self.members(&printable_path(path), Some(path), &mut members)
    }

    /// The members of an archive, whose path is known unless it is in a package.
    fn members(
        &mut self,
        name: &str,
        path: Option<&Path>,
        members: &mut archive::Members<'_>,
    ) -> io::Result<()> {
        for member in members.by_ref() {
            let member = match member {
                Ok(member) => member,
                Err(error) => return self.complain(name, &error.to_string()),
            };
            let member_name = printable(member.name);
            let name = format!("{name}({member_name})");
            match member.content {
                Content::Bytes(data) if path.is_none() && !has_section(data) => {}
                Content::Bytes(data) => self.member(&name, &member_name, data)?,
                Content::File(member) => {
                    let Some(path) = path.map(|path| archive::named_file(path, member)) else {
                        self.complain(
                            &name,
                            "a member of a thin archive, whose file is not in it",
                        )?;
                        continue;
                    };
                    match FileBytes::open(&path) {
                        Ok(data) => self.member(&name, &member_name, &data)?,
                        Err(error) => {
                            self.complain(&name, &format!("{}: {error}", printable_path(&path)))?;
                        }
                    }
                }
                Content::Damaged(damage) => self.complain(&name, &damage.to_string())?,
            }
        }
        members.reached().map_or(Ok(()), |limit| self.complain(name, &limit.to_string()))
    }

    /// The ELF files and archives in a package, in stored order.
    fn package(&mut self, path: &Path) -> io::Result<()> {
        let name = printable_path(path);
        let mut files = Files { dump: self, name: &name, written: Ok(()) };
        let opened = open_file(path).map_err(|error| plain_error(&error));
        let read = opened.and_then(|file| {
            Unpacker::new(Limits::default())
                .visit(&file, &mut files)
                .map_err(|error| error.to_string())
        });
        files.written?;
        read.map_or_else(|why| self.complain(&name, &why), Ok)?;
        match self.has_section || self.outcome.unreadable > 0 || !self.options.selection.is_all() {
            true => Ok(()),
            false => self.complain(&name, "no file with an SFrame section"),
        }
    }

    fn member(&mut self, name: &str, member: &str, data: &[u8]) -> io::Result<()> {
        if let (Style::Gnu, Ok(elf)) = (self.options.style, Elf::parse(data)) {
            writeln!(self.out, "\n{member}:     file format {}\n", gnu::target(&elf))?;
        }
        self.elf(name, data)
    }

    fn elf(&mut self, name: &str, data: &[u8]) -> io::Result<()> {
        let elf = match Elf::parse(data) {
            Ok(elf) => elf,
            Err(ElfError::NotElf)
                if Section::parse(data, RawOptions::default().placement()).is_ok() =>
            {
                return self
                    .complain(name, "not an ELF file; to read it as one bare section, use --raw");
            }
            Err(error) => return self.complain(name, &error.to_string()),
        };
        let symbols = match self.options.style {
            Style::Plain => SymbolTable::load(&elf).unwrap_or_default(),
            // objdump does not print names.
            Style::Gnu => SymbolTable::default(),
        };
        let mut any = false;
        for content in elf.sframe_contents() {
            any = true;
            match SectionSource::of(&content) {
                Ok(source) => self.section(name, &source, Some((&elf, &symbols)))?,
                Err(error) => self.complain(name, &error.to_string())?,
            }
        }
        if !any && self.options.style == Style::Gnu {
            self.outcome.unreadable += 1;
            writeln!(self.out, "No .sframe section present\n")?;
        } else if !any && self.options.selection.is_all() {
            self.complain(name, "no .sframe section")?;
        }
        Ok(())
    }

    fn section(
        &mut self,
        name: &str,
        source: &SectionSource<'_>,
        file: Option<(&Elf<'_>, &SymbolTable<'_>)>,
    ) -> io::Result<()> {
        let section = match &source.section {
            Ok(section) => section,
            Err(error) => {
                let size = source.data.len();
                return self.complain(name, &format!("{} ({size} bytes): {error}", source.name));
            }
        };
        self.has_section = true;
        let selection = &self.options.selection;
        let symbols = file.map(|(_, symbols)| symbols);
        if !section.entries().any(|entry| selection.contains(&entry, symbols))
            && !selection.is_all()
        {
            return Ok(());
        }
        self.outcome.sections += 1;
        self.outcome.unreadable += match self.options.style {
            Style::Gnu => gnu::write(self.out, source, section)?,
            Style::Plain => {
                let place = plain::SectionInFile { name, source, file };
                plain::write(self.out, &place, section, selection)?
            }
        };
        Ok(())
    }

    fn complain(&mut self, name: &str, what: &str) -> io::Result<()> {
        self.outcome.unreadable += 1;
        // Standard error may be closed; the exit status still reports the problem.
        let _ = writeln!(self.complaints, "{name}: {what}");
        Ok(())
    }
}

/// Prints the files of a package as they are unpacked.
struct Files<'f, 'w> {
    dump: &'f mut Dump<'w>,
    name: &'f str,
    written: io::Result<()>,
}

impl Visitor for Files<'_, '_> {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        let inside = member.name.map(|inside| format!("!{}", printable(inside)));
        let name = format!("{}{}", self.name, inside.unwrap_or_default());
        self.written = match member.content {
            package::Content::Elf(data) if has_section(data) => self.dump.elf(&name, data),
            package::Content::Archive(mut members) => self.dump.members(&name, None, &mut members),
            package::Content::Unreadable(why) => self.dump.complain(&name, &why),
            _ => Ok(()),
        };
        if self.written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Whether an ELF file has an SFrame section. Of a package, other files are no news.
fn has_section(data: &[u8]) -> bool {
    Elf::parse(data).map_or(true, |elf| elf.sframe_sections().next().is_some())
}

/// `little-endian` or `big-endian`.
fn endian_name(endian: Endian) -> &'static str {
    match endian {
        Endian::Little => "little-endian",
        Endian::Big => "big-endian",
    }
}

/// Whether start fields are relocated.
fn is_relocatable(elf: &Elf<'_>) -> bool {
    elf.kind() == ElfKind::Relocatable
}
