//! The section of a relocatable object, as the program sees it that relocates the object: a linker, or the kernel for a
//! module.

use sframe_validator::elf::{
    Elf, ElfSection, Relocation, RelocationTable, SHF_ALLOC, SHF_EXECINSTR,
};
use sframe_validator::section::{Placement, Section};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Endian};

use crate::consumer::Objects;
use crate::input::Input;

/// The address of the first section. Any would do: starts are relative to the section that contains them.
const FIRST: u64 = 0x1000_0000;
/// Objects with more code than this are not laid out, because 32-bit starts cannot reach all of it.
const MOST: u64 = 1 << 30;

/// A section after relocation.
#[derive(Clone, Debug)]
pub struct Relocated {
    bytes: Vec<u8>,
    address: u64,
    machine: Abi,
    /// The code that stays loaded: not `.init.text` and `.exit.text` of a module.
    text: (u64, u64),
    code: Code,
    reader: Objects,
}

impl Relocated {
    /// Gives each section of code an address, and applies the relocations of the section with this index, as a linker or the
    /// kernel does.
    ///
    /// # Errors
    /// Why it is undecided what a consumer would see.
    pub fn of(
        elf: &Elf<'_>,
        index: u32,
        data: &[u8],
        machine: Abi,
        reader: Objects,
    ) -> Result<Relocated, &'static str> {
        let Layout { code, text, end } = Layout::of(elf)?;
        let address = end.next_multiple_of(64);
        let code = Code::of(code);
        let mut found = Relocated { bytes: data.to_vec(), address, machine, text, code, reader };
        let table =
            RelocationTable::load(elf, index).map_err(|_| "its relocations cannot be read")?;
        if table.without_addend > 0 {
            return Err("its relocations have no addends");
        }
        for relocation in table.relocations.iter().filter(|relocation| !relocation.is_none()) {
            found.apply(relocation)?;
        }
        if found.has_all_starts(&table, elf, data) {
            Ok(found)
        } else {
            Err("the start of a function has no relocation")
        }
    }

    /// The section as a consumer sees it.
    #[must_use]
    pub fn input(&self) -> Input<'_> {
        let (start, end) = self.text;
        Input::new(&self.bytes, self.address, self.machine).with_text(start, end)
    }

    /// The place in the object that has this address.
    #[must_use]
    pub fn place(&self, address: u64) -> CodeAddress {
        self.code.place(address).unwrap_or(CodeAddress::absolute(address))
    }

    /// What is subtracted from a start. The kernel applies relocations as they are. Linkers take the target for the start, whose
    /// field is relative to itself with a flag, and otherwise to the section.
    fn base(&self, relocation: &Relocation) -> u64 {
        const PC_RELATIVE: u8 = 4;
        let is_relative = self.bytes.get(3).is_some_and(|flags| flags & PC_RELATIVE != 0);
        if is_relative || self.reader == Objects::Modules {
            self.address.wrapping_add(relocation.offset)
        } else {
            self.address
        }
    }

    /// Writes the distance to a relocation's target.
    fn apply(&mut self, relocation: &Relocation) -> Result<(), &'static str> {
        let width = width(self.machine, relocation.kind)
            .ok_or("a relocation is not a PC-relative one of 4 or 8 bytes")?;
        let target = relocation.target().ok_or("a relocation's symbol is undefined")?;
        let target = self.code.address(target).ok_or("a relocation's symbol is not in code")?;
        let value = target.wrapping_sub(self.base(relocation)).cast_signed();
        if width == 4 && i32::try_from(value).is_err() {
            return Err("a start does not fit into 4 bytes");
        }
        let mut stored = value.to_le_bytes();
        let stored = stored.get_mut(..width).unwrap_or_default();
        if self.machine.endian() == Endian::Big {
            stored.reverse();
        }
        let at = usize::try_from(relocation.offset).map_err(|_| OUTSIDE)?;
        let end = at.checked_add(width).ok_or(OUTSIDE)?;
        self.bytes.get_mut(at..end).ok_or(OUTSIDE)?.copy_from_slice(stored);
        Ok(())
    }

    /// Whether the relocations say where each function starts.
    fn has_all_starts(&self, table: &RelocationTable, elf: &Elf<'_>, data: &[u8]) -> bool {
        let starts = table.starts();
        let placement = Placement::relocated(&starts).with_abi(elf.abi());
        let Ok(section) = Section::parse(data, placement) else { return true };
        section.functions().flatten().all(|function| function.start().is_ok())
    }
}

/// Whether an object is a module of the Linux kernel.
#[must_use]
pub fn is_module(elf: &Elf<'_>) -> bool {
    elf.sections().iter().any(|section| section.name.bytes() == b".gnu.linkonce.this_module")
}

const OUTSIDE: &str = "a relocation is outside the section";

/// The number of bytes of a PC-relative relocation that has all its bits in whole bytes.
const fn width(machine: Abi, kind: u32) -> Option<usize> {
    match (machine, kind) {
        // R_X86_64_PC32, R_AARCH64_PREL32, R_390_PC32.
        (Abi::Amd64, 2) | (Abi::Aarch64Little | Abi::Aarch64Big, 261) | (Abi::S390x, 5) => Some(4),
        // R_X86_64_PC64, R_AARCH64_PREL64, R_390_PC64.
        (Abi::Amd64, 24) | (Abi::Aarch64Little | Abi::Aarch64Big, 260) | (Abi::S390x, 23) => {
            Some(8)
        }
        _ => None,
    }
}

/// The sections of code by address, and by index.
#[derive(Clone, Debug)]
struct Code {
    /// The first address, the first one after it, and the index.
    by_address: Vec<(u64, u64, u32)>,
    /// The index and the first address.
    by_index: Vec<(u32, u64)>,
}

impl Code {
    /// Sections in ascending order of addresses.
    fn of(by_address: Vec<(u64, u64, u32)>) -> Code {
        let mut by_index: Vec<_> =
            by_address.iter().map(|(start, _, index)| (*index, *start)).collect();
        by_index.sort_unstable();
        Code { by_address, by_index }
    }

    fn place(&self, address: u64) -> Option<CodeAddress> {
        let after = self.by_address.partition_point(|(start, _, _)| *start <= address);
        let (start, end, section) = *self.by_address.get(after.checked_sub(1)?)?;
        (address < end).then_some(CodeAddress { section, address: address - start })
    }

    fn address(&self, place: CodeAddress) -> Option<u64> {
        let found = self.by_index.binary_search_by_key(&place.section, |(index, _)| *index).ok()?;
        let (_, start) = self.by_index.get(found)?;
        Some(start.wrapping_add(place.address))
    }
}

/// The addresses of the sections of code.
struct Layout {
    code: Vec<(u64, u64, u32)>,
    text: (u64, u64),
    /// The first address after all of them.
    end: u64,
}

impl Layout {
    /// One section after the other; those that a module frees after its start, or has for its end, come last.
    fn of(elf: &Elf<'_>) -> Result<Layout, &'static str> {
        let mut layout = Layout { code: Vec::new(), text: (FIRST, FIRST), end: FIRST };
        let is_code = |section: &&ElfSection<'_>| {
            let wanted = SHF_ALLOC | SHF_EXECINSTR;
            section.flags & wanted == wanted
        };
        let (rest, core): (Vec<_>, Vec<_>) = elf
            .sections()
            .iter()
            .filter(is_code)
            .partition(|section| is_of_start_or_end(section.name.bytes()));
        for section in core {
            layout.add(section)?;
        }
        layout.text.1 = layout.end;
        for section in rest {
            layout.add(section)?;
        }
        Ok(layout)
    }

    fn add(&mut self, section: &ElfSection<'_>) -> Result<(), &'static str> {
        const TOO_MUCH: &str = "it has too much code for one address space";
        let start = self.end.checked_next_multiple_of(section.alignment.max(1)).ok_or(TOO_MUCH)?;
        let end = start.checked_add(section.size).filter(|end| end - FIRST <= MOST);
        self.end = end.ok_or(TOO_MUCH)?;
        self.code.push((start, self.end, section.index));
        Ok(())
    }
}

fn is_of_start_or_end(name: &[u8]) -> bool {
    name.starts_with(b".init") || name.starts_with(b".exit")
}
