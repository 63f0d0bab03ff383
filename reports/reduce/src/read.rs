//! Reads functions from the assembly that [`reassemble`](fn@reassemble) writes for an existing file.

use std::collections::VecDeque;
use std::io::{self, Write};

use sframe_harness::reassemble::reassemble;
use sframe_validator::elf::{Elf, ElfKind, ElfSection};
use sframe_validator::{Abi, Endian};

use crate::error::ReadError;
use crate::source::{Code, Directive, Function, Part, Source};

/// The most parts of all functions together, and the most bytes of code: an assembler is run many times on them.
const MOST_PARTS: usize = 1 << 18;
const MOST_BYTES: usize = 16 << 20;
/// The longest line that is kept. Names have up to 4,096 characters.
const LONGEST_LINE: usize = 1 << 16;

/// A place in code, as findings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The section in a relocatable object; `None` in a linked file.
    pub section: Option<String>,
    /// The address or, in a relocatable object, the offset in the section.
    pub address: u64,
}

/// The functions that are read.
#[derive(Clone, Copy, Debug)]
pub enum Which<'p> {
    /// The functions that contain this place: several if sections of an object have the same name.
    At(&'p Place),
    /// The first function that contains this place, and at most this number of functions before and after it.
    Around(&'p Place, usize),
    /// All functions.
    All,
}

/// Reads functions of a file.
///
/// # Errors
/// Returns an error if the file cannot be written as assembly, or has too many functions.
pub fn read(elf: &Elf<'_>, which: Which<'_>) -> Result<Source, ReadError> {
    let abi = elf.abi().ok_or(ReadError::Machine)?;
    let mut reader = Reader {
        abi,
        which,
        is_object: elf.kind() == ElfKind::Relocatable,
        sections: elf.code_sections().collect(),
        line: Vec::new(),
        section: None,
        name: String::new(),
        offset: 0,
        label: None,
        open: None,
        parts: 0,
        bytes: 0,
        is_full: false,
        functions: VecDeque::new(),
        after: None,
    };
    reassemble(elf, "", &mut reader)?;
    if reader.is_full {
        return Err(ReadError::TooLarge);
    }
    Ok(Source { abi, functions: reader.functions.into() })
}

/// Takes the assembly line by line, and keeps the functions that are wanted.
struct Reader<'e, 'p> {
    abi: Abi,
    which: Which<'p>,
    is_object: bool,
    sections: Vec<&'e ElfSection<'e>>,
    /// The line so far.
    line: Vec<u8>,
    section: Option<&'e ElfSection<'e>>,
    /// The section's name in the assembly.
    name: String,
    /// The number of bytes of the section so far.
    offset: u64,
    /// The last label, and whether it is that of a function.
    label: Option<(String, bool)>,
    /// The function that is being read, and the offset of its start.
    open: Option<(Function, u64)>,
    parts: usize,
    bytes: usize,
    /// There are more parts or bytes than are kept.
    is_full: bool,
    functions: VecDeque<Function>,
    /// The number of functions after the wanted one, once that is found.
    after: Option<usize>,
}

impl Write for Reader<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            self.keep(head);
            let line = std::mem::take(&mut self.line);
            self.take(&String::from_utf8_lossy(&line));
            rest = tail.get(1..).unwrap_or_default();
        }
        self.keep(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Reader<'_, '_> {
    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    fn take(&mut self, line: &str) {
        if let Some(text) = line.strip_prefix("\t.section ") {
            self.name = text.split(',').next().unwrap_or_default().to_owned();
        } else if let Some(text) = line.strip_prefix("\t.type ") {
            let name = text.split('"').nth(1).unwrap_or_default();
            self.label = Some((name.to_owned(), true));
        } else if let Some(label) = line.strip_suffix(':') {
            self.label(label.trim_matches('"'));
        } else if line.starts_with("\t.cfi_startproc") {
            self.start(line);
        } else if line == "\t.cfi_endproc" {
            self.end();
        } else if line.starts_with("\t.cfi_") {
            self.part(|| Part::Directive(Directive::parse(line)));
        } else if let Some(words) = line.strip_prefix("\t.8byte ") {
            self.code(words, 8);
        } else if let Some(bytes) = line.strip_prefix("\t.byte ") {
            self.code(bytes, 1);
        }
    }

    fn label(&mut self, label: &str) {
        // The symbol at the start of each section has the number of the section.
        if let Some(number) = label.strip_prefix("sframe_check.section.") {
            let number = number.parse().unwrap_or(0);
            self.section = self.sections.iter().find(|section| section.index == number).copied();
            self.offset = 0;
            return;
        }
        let is_function = self.label.as_ref().is_some_and(|(name, _)| name == label);
        self.label = Some((label.to_owned(), is_function));
    }

    /// Begins a function with the line of its `.cfi_startproc`.
    fn start(&mut self, line: &str) {
        let simple = line.ends_with("simple");
        let (label, is_typed) = self.label.take().unwrap_or_default();
        let section = self.name.clone();
        let function = Function { label, section, is_typed, simple, parts: Vec::new() };
        self.open = Some((function, self.offset));
    }

    fn end(&mut self) {
        let Some((function, start)) = self.open.take() else { return };
        match self.which {
            Which::All => self.functions.push_back(function),
            Which::At(place) if self.is_at(place, start) => self.functions.push_back(function),
            Which::At(_) => self.forget(&function),
            Which::Around(place, most) => match self.after {
                None => {
                    self.after = self.is_at(place, start).then_some(0);
                    self.functions.push_back(function);
                    let before = self.functions.len() - usize::from(self.after.is_some());
                    if before > most
                        && let Some(first) = self.functions.pop_front()
                    {
                        self.forget(&first);
                    }
                }
                Some(after) if after < most => {
                    self.after = Some(after + 1);
                    self.functions.push_back(function);
                }
                Some(_) => self.forget(&function),
            },
        }
    }

    /// Leaves out a function that was counted.
    fn forget(&mut self, function: &Function) {
        self.parts = self.parts.saturating_sub(function.parts.len());
        let sizes = function.parts.iter().map(|part| match part {
            Part::Code(Code::Bytes(bytes)) => bytes.len(),
            _ => 0,
        });
        self.bytes = self.bytes.saturating_sub(sizes.sum());
    }

    /// Whether the function from `start` up to the current offset contains the place.
    fn is_at(&self, place: &Place, start: u64) -> bool {
        let Some(section) = self.section else { return false };
        let base = if self.is_object { 0 } else { section.address };
        let is_here = match &place.section {
            Some(name) => self.is_object && section.name.bytes() == name.as_bytes(),
            None => !self.is_object,
        };
        let offset = place.address.checked_sub(base);
        is_here && offset.is_some_and(|offset| (start..self.offset).contains(&offset))
    }

    fn part(&mut self, part: impl FnOnce() -> Part) {
        let Some((function, _)) = &mut self.open else { return };
        if self.parts == MOST_PARTS {
            self.is_full = true;
            return;
        }
        self.parts += 1;
        function.parts.push(part());
    }

    /// Numbers of `size` bytes each.
    fn code(&mut self, numbers: &str, size: usize) {
        let mut bytes = Vec::new();
        for number in numbers.split(',') {
            let value = number.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            let value = value.unwrap_or_default();
            match self.abi.endian() {
                Endian::Little => bytes.extend(value.to_le_bytes().iter().take(size)),
                Endian::Big => bytes.extend(value.to_be_bytes().iter().skip(8 - size.min(8))),
            }
        }
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        if self.open.is_none() {
            return;
        }
        if self.bytes.saturating_add(bytes.len()) > MOST_BYTES {
            self.is_full = true;
            return;
        }
        self.bytes += bytes.len();
        if let Some((function, _)) = &mut self.open
            && let Some(Part::Code(Code::Bytes(before))) = function.parts.last_mut()
        {
            before.append(&mut bytes);
            return;
        }
        self.part(|| Part::Code(Code::Bytes(bytes)));
    }
}
