//! Reads ELF objects: the facts for the report, and the symbols that decide what is pulled in.

mod comment;
mod sections;
mod symbols;
mod truncated;
mod uses;

use std::fmt;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, elf};
use sframe_record::text::printable;
use sframe_validator::Endian;
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Elf, ElfError, ElfKind};

use crate::input::{Input, InputKind};
use crate::obstacle::ObstacleKind;
use crate::options::Options;
pub(crate) use symbols::Symbols;
use symbols::names_fit;
pub(crate) use uses::{Kept, Target, Used, Uses};

/// The first bytes of LLVM bitcode.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// An object with its symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) input: Input,
    pub(crate) symbols: Symbols,
    /// It is a position-independent program, which only GNU ld tells apart from a shared object.
    pub(crate) is_program: bool,
    /// What `--gc-sections` needs, if it was asked for and is known.
    pub(crate) uses: Option<Uses>,
}

/// Why an object cannot take part in a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The link fails with it.
    Obstacle(ObstacleKind),
    /// It cannot be read here.
    Fault(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Obstacle(kind) => f.write_str(kind.reason()),
            Refusal::Fault(fault) => f.write_str(fault),
        }
    }
}

impl Object {
    /// Reads the ELF file `data`, which is called `name`, and for `--gc-sections` the uses of its sections.
    ///
    /// # Errors
    /// Returns the reason if it cannot take part in a link.
    pub(crate) fn read(name: &str, data: &[u8], options: &Options) -> Result<Object, Refusal> {
        if data.starts_with(BITCODE) {
            let input =
                Input { name: name.to_owned(), kind: InputKind::Bitcode, ..Input::default() };
            return Ok(Object { input, ..Object::default() });
        }
        if let Some(kind) = truncated::kind(data) {
            return Err(Refusal::Obstacle(kind));
        }
        let elf = Elf::parse(data).map_err(|error| match error {
            ElfError::NotElf => Refusal::Obstacle(ObstacleKind::NotElf),
            other => Refusal::Fault(other.to_string()),
        })?;
        let kind = match elf.kind() {
            ElfKind::Relocatable => InputKind::Object,
            ElfKind::Shared => InputKind::Shared,
            ElfKind::Executable => return Err(Refusal::Obstacle(ObstacleKind::Executable)),
            ElfKind::Core | ElfKind::Other(_) => {
                return Err(Refusal::Obstacle(ObstacleKind::OtherType));
            }
        };
        let mut input = Input {
            name: name.to_owned(),
            kind,
            machine: machine(elf.machine()),
            big_endian: elf.endian() == Endian::Big,
            ..Input::default()
        };
        let file =
            ElfFile64::<Endianness>::parse(data).map_err(|error| printable(error.to_string()));
        let file = file.and_then(|file| match names_fit(&file) {
            true => Ok(file),
            false => Err("together, all names are several times as long as the file".to_owned()),
        });
        let symbols = file.as_ref().map(|file| Symbols::read(file, kind)).unwrap_or_default();
        if let Err(error) = &file {
            input.faults.push(format!("its symbols cannot be read: {error}"));
        }
        if kind == InputKind::Object {
            sections::add(&elf, file.as_ref().ok(), &mut input);
            if file.as_ref().is_ok_and(|file| file.section_by_name(".gnu.lto_.symtab").is_some())
                || elf.sections().iter().any(|s| s.name.bytes().starts_with(b".gnu.lto_"))
            {
                input.kind = InputKind::Bitcode;
            }
            input.calls = symbols.calls.clone();
            input.source.clone_from(&symbols.source);
        }
        input.producers = comment::producers(&elf);
        let is_program = kind == InputKind::Shared && file.as_ref().is_ok_and(is_program);
        let is_collected = options.gc_sections && input.kind == InputKind::Object;
        let uses = file.as_ref().ok().filter(|_| is_collected);
        let uses = uses.and_then(|file| Uses::read(&elf, file, &input));
        Ok(Object { input, symbols, is_program, uses })
    }
}

/// Whether `DT_FLAGS_1` has `DF_1_PIE`.
fn is_program(file: &ElfFile64<'_, Endianness>) -> bool {
    let dynamic = file.elf_section_table().dynamic(file.endian(), file.data()).ok().flatten();
    let entries = dynamic.map(|(entries, _)| entries).unwrap_or_default();
    entries.iter().any(|entry| {
        let is_flags = entry.d_tag.get(file.endian()) == elf::DT_FLAGS_1;
        is_flags && entry.d_val.get(file.endian()) & elf::DF_1_PIE.0 != 0
    })
}

/// The name of a machine (`e_machine`).
pub(crate) fn machine(number: u16) -> String {
    match number {
        EM_X86_64 => "AMD64".to_owned(),
        EM_AARCH64 => "AArch64".to_owned(),
        EM_S390 => "s390x".to_owned(),
        other => format!("machine {other}"),
    }
}
