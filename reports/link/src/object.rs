//! Reads ELF objects: the facts for the report, and the symbols that decide what is pulled in.

mod comment;
mod sections;
mod symbols;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _};
use sframe_record::text::printable;
use sframe_validator::Endian;
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Elf, ElfKind};

use crate::input::{Input, InputKind};
pub(crate) use symbols::Symbols;

/// The first bytes of LLVM bitcode.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// An object with its symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) input: Input,
    pub(crate) symbols: Symbols,
}

impl Object {
    /// Reads the ELF file `data`, which is called `name`.
    ///
    /// # Errors
    /// Returns the reason if it cannot take part in a link.
    pub(crate) fn read(name: &str, data: &[u8]) -> Result<Object, String> {
        if data.starts_with(BITCODE) {
            let input =
                Input { name: name.to_owned(), kind: InputKind::Bitcode, ..Input::default() };
            return Ok(Object { input, symbols: Symbols::default() });
        }
        let elf = Elf::parse(data).map_err(|error| error.to_string())?;
        let kind = match elf.kind() {
            ElfKind::Relocatable => InputKind::Object,
            ElfKind::Shared => InputKind::Shared,
            ElfKind::Executable | ElfKind::Other(_) => {
                return Err("it is neither a relocatable nor a shared object".to_owned());
            }
        };
        let mut input = Input {
            name: name.to_owned(),
            kind,
            machine: machine(elf.machine()),
            big_endian: elf.endian() == Endian::Big,
            ..Input::default()
        };
        let file = ElfFile64::<Endianness>::parse(data);
        let symbols = file.as_ref().map(|file| Symbols::read(file, kind)).unwrap_or_default();
        if let Err(error) = &file {
            input
                .faults
                .push(format!("its symbols cannot be read: {}", printable(error.to_string())));
        }
        if kind == InputKind::Object {
            sections::add(&elf, file.as_ref().ok(), &mut input);
            if file.as_ref().is_ok_and(|file| file.section_by_name(".gnu.lto_.symtab").is_some())
                || elf.sections().iter().any(|s| s.name.bytes().starts_with(b".gnu.lto_"))
            {
                input.kind = InputKind::Bitcode;
            }
            input.calls = symbols.calls.clone();
        }
        input.producers = comment::producers(&elf);
        Ok(Object { input, symbols })
    }
}

fn machine(number: u16) -> String {
    match number {
        EM_X86_64 => "AMD64".to_owned(),
        EM_AARCH64 => "AArch64".to_owned(),
        EM_S390 => "s390x".to_owned(),
        other => format!("machine {other}"),
    }
}
