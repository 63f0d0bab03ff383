//! Imports of a linked file: functions of other files that never return, and how this file reaches them.

use sframe_validator::elf::{Elf, ElfKind, ElfSection, SHT_RELA};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Endian};

use super::address_set::AddressSet;
use super::effect::{ControlFlow, Decoder};
use super::machine::{Machine, WithDecoder};
use super::no_return_names::{LONGEST_NAME, never_returns};

/// The size of an entry of `SHT_RELA` and of a symbol table, in bytes.
const ENTRY: usize = 24;
/// The maximum number of instructions up to a stub's jump.
const MAX_INSTRUCTIONS: usize = 6;
/// The maximum size of a stub in bytes, on any machine.
const MAX_STUB: u64 = 32;

/// How a linked file calls imported functions that never return.
#[derive(Debug, Default)]
pub(super) struct NoReturnImports {
    /// The addresses of the pointers to them, which the dynamic linker fills, ordered.
    pointers: Vec<u64>,
    /// The addresses of the linker's stubs that jump by these pointers.
    stubs: AddressSet,
}

impl NoReturnImports {
    /// Those of a file whose linker's stubs start at `stubs`; none of a relocatable object, whose relocations name them.
    pub(super) fn of(elf: &Elf<'_>, machine: Machine, stubs: &[u64]) -> NoReturnImports {
        if elf.kind() == ElfKind::Relocatable {
            return NoReturnImports::default();
        }
        let pointers = elf.abi().map_or_else(Vec::new, |abi| pointers(elf, abi));
        if pointers.is_empty() {
            return NoReturnImports::default();
        }
        let leads_there = |stub: &u64| {
            let code = elf.code_bytes(CodeAddress::absolute(*stub), MAX_STUB);
            let pointer = code.and_then(|code| machine.decode(Stub { code, address: *stub }));
            pointer.is_some_and(|pointer| pointers.binary_search(&pointer).is_ok())
        };
        let stubs = stubs.iter().copied().filter(leads_there).collect();
        NoReturnImports { pointers, stubs: AddressSet::of(stubs) }
    }

    /// Whether the pointer at an address leads to such a function.
    pub(super) fn has_pointer(&self, address: u64) -> bool {
        self.pointers.binary_search(&address).is_ok()
    }

    /// Whether the stub of such a function is at an address.
    pub(super) fn has_stub(&self, address: u64) -> bool {
        self.stubs.contains(address)
    }

    /// Where control goes after an instruction, when it is known which calls do not return.
    #[inline]
    pub(super) fn next(&self, next: ControlFlow) -> ControlFlow {
        match next {
            ControlFlow::Call(to) if self.has_stub(to) => ControlFlow::NoReturnCall,
            ControlFlow::CallBy(pointer) if self.has_pointer(pointer) => ControlFlow::NoReturnCall,
            ControlFlow::CallBy(_) => ControlFlow::IndirectCall,
            next => next,
        }
    }
}

/// The addresses of the words that dynamic relocations fill with the addresses of imported functions that never return.
fn pointers(elf: &Elf<'_>, abi: Abi) -> Vec<u64> {
    let is_little = abi.endian() == Endian::Little;
    let mut found = Vec::new();
    // Many headers that lead to the same bytes must not multiply the work.
    let mut room = elf.data().len();
    let relocations = elf.sections().iter().filter(|it| it.sh_type == SHT_RELA && it.is_loaded());
    for section in relocations {
        let data = elf.section_data(section).unwrap_or_default();
        let Some(left) = room.checked_sub(data.len()) else { break };
        room = left;
        let Some(symbols) = Symbols::of(elf, section) else { continue };
        let entries = data.as_chunks::<ENTRY>().0.iter().map(|entry| Fields { entry, is_little });
        let named = entries.filter(|entry| symbols.is_no_return(entry.word(8) >> 32));
        found.extend(named.map(|entry| entry.word(0)));
    }
    found.sort_unstable();
    found
}

/// A table of dynamic symbols, and their names.
struct Symbols<'e> {
    entries: &'e [[u8; ENTRY]],
    names: &'e [u8],
    is_little: bool,
}

impl<'e> Symbols<'e> {
    /// Those to which a section of relocations refers.
    fn of(elf: &Elf<'e>, relocations: &ElfSection<'_>) -> Option<Symbols<'e>> {
        let table = elf.section(relocations.link)?;
        let names = elf.section_data(elf.section(table.link)?).ok()?;
        let entries = elf.section_data(table).ok()?.as_chunks::<ENTRY>().0;
        let is_little = elf.abi()?.endian() == Endian::Little;
        Some(Symbols { entries, names, is_little })
    }

    /// Whether a symbol is that of a function in another file that never returns.
    fn is_no_return(&self, symbol: u64) -> bool {
        let Some(entry) = usize::try_from(symbol).ok().and_then(|index| self.entries.get(index))
        else {
            return false;
        };
        // `st_shndx` of an undefined symbol is 0.
        let is_undefined = entry.get(6..8) == Some(&[0, 0]);
        let start = usize::try_from(Fields { entry, is_little: self.is_little }.number(0)).ok();
        let name = start.filter(|_| is_undefined).and_then(|start| self.names.get(start..));
        let name = name.unwrap_or_default();
        let end = name.iter().take(LONGEST_NAME).take_while(|byte| **byte != 0).count();
        never_returns(name.get(..end).unwrap_or_default())
    }
}

/// An entry of a table, and its byte order.
struct Fields<'e> {
    entry: &'e [u8; ENTRY],
    is_little: bool,
}

impl Fields<'_> {
    /// The 4 bytes at an offset.
    fn number(&self, offset: usize) -> u32 {
        let bytes = self.entry.get(offset..).and_then(<[u8]>::first_chunk).copied();
        let bytes = bytes.unwrap_or_default();
        if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    /// The 8 bytes at an offset.
    fn word(&self, offset: usize) -> u64 {
        let bytes = self.entry.get(offset..).and_then(<[u8]>::first_chunk).copied();
        let bytes = bytes.unwrap_or_default();
        if self.is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

/// A linker's stub.
struct Stub<'e> {
    code: &'e [u8],
    address: u64,
}

impl<'e> WithDecoder<'e> for Stub<'e> {
    /// The address of the pointer by which it jumps.
    type Output = Option<u64>;

    fn run(self, decoder: &mut impl Decoder<'e>) -> Option<u64> {
        let (mut offset, mut address) = (0, self.address);
        let mut pointer = None;
        for _ in 0..MAX_INSTRUCTIONS {
            let preview = decoder.preview(self.code, offset, address)?;
            pointer = pointer.or(preview.refers);
            match preview.next {
                ControlFlow::Following => {}
                ControlFlow::Indirect(_) => return pointer,
                _ => return None,
            }
            offset = offset.checked_add(preview.length.into())?;
            address = address.wrapping_add(preview.length.into());
        }
        None
    }
}
