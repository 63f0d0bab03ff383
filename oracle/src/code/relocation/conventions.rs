//! What relocatable objects mean that only the Linux kernel and the C library define: functions that do not return, and the
//! kernel's tables of instructions that it replaces or whose exceptions it handles.

use sframe_validator::elf::{Elf, ElfSection, RelocationTable, SHT_RELA};
use sframe_validator::unwind::CodeAddress;

use super::{CodeRelocations, RelocationTarget};
use crate::code::conventions::Conventions;
use crate::code::no_return_names::{LONGEST_NAME, never_returns};

/// The size of an entry of `SHT_RELA` and of a symbol table, in bytes.
const ENTRY: usize = 24;

impl CodeRelocations {
    /// Adds what the names of symbols and the kernel's tables say.
    pub(super) fn add_conventions(&mut self, elf: &Elf<'_>, conventions: &Conventions) {
        self.name_targets(elf);
        self.add_jump_labels(elf);
        if let Some(length) = conventions.kernel_warning {
            self.add_warnings(elf, length);
        }
        self.add_alternatives(elf);
        self.branches.sort_unstable();
    }

    /// Finds the relocations with undefined symbols whose names have a meaning.
    fn name_targets(&mut self, elf: &Elf<'_>) {
        // Many headers that lead to the same bytes must not multiply the work.
        let mut room = elf.data().len();
        let mut symbols: (u32, Vec<(u32, RelocationTarget)>) = (u32::MAX, Vec::new());
        for section in elf.sections().iter().filter(|section| section.sh_type == SHT_RELA) {
            if !elf.section(section.info).is_some_and(|relocated| elf.is_code(relocated)) {
                continue;
            }
            let data = elf.section_data(section).unwrap_or_default();
            let Some(left) = room.checked_sub(data.len()) else { return };
            room = left;
            if symbols.0 != section.link {
                let Some((named, left)) = named_symbols(elf, section.link, room) else { return };
                (symbols, room) = ((section.link, named), left);
            }
            for entry in data.as_chunks::<ENTRY>().0 {
                let symbol = number(entry, 12);
                let Ok(known) = symbols.1.binary_search_by_key(&symbol, |(index, _)| *index) else {
                    continue;
                };
                let place = CodeAddress { section: section.info, address: word(entry, 0) };
                let first = self.fields.partition_point(|(relocated, _)| *relocated < place);
                let target = symbols.1.get(known).map(|(_, target)| *target);
                if let Some(field) = self.fields.get_mut(first).filter(|field| field.0 == place)
                    && let Some(target) = target
                {
                    field.1 = target;
                }
            }
        }
    }

    /// Adds the pairs in tables of the Linux kernel: an entry starts with the places of an instruction and of the code where
    /// it may continue (include/linux/jump_label.h, arch/x86/include/asm/extable.h).
    fn add_jump_labels(&mut self, elf: &Elf<'_>) {
        for (name, entry) in [(b"__jump_table".as_slice(), 16), (b"__ex_table", 12)] {
            for pair in fields(elf, name).windows(2) {
                let [(first, Some(from)), (second, Some(to))] = pair else { continue };
                if first.is_multiple_of(entry) && first.checked_add(4) == Some(*second) {
                    self.branches.push((*from, *to));
                }
            }
        }
    }

    /// Adds the instructions of `length` bytes that report a warning, after which execution continues. An entry of the
    /// Linux kernel's table has the places of the instruction and of a file's name, a line, and flags
    /// (arch/x86/include/asm/bug.h).
    fn add_warnings(&mut self, elf: &Elf<'_>, length: u64) {
        const ENTRY: u64 = 12;
        const FLAGS: u64 = 10;
        const WARNING: u8 = 1;
        let name = b"__bug_table";
        let Some(section) = section_named(elf, name).filter(|s| s.size.is_multiple_of(ENTRY))
        else {
            return;
        };
        let data = elf.section_data(section).unwrap_or_default();
        for (offset, place) in fields(elf, name) {
            let Some(from) = place.filter(|_| offset.is_multiple_of(ENTRY)) else { continue };
            let flags = offset.checked_add(FLAGS).and_then(|at| usize::try_from(at).ok());
            let flags = flags.and_then(|at| data.get(at)).copied().unwrap_or_default();
            if flags & WARNING != 0 {
                let to = CodeAddress { address: from.address.wrapping_add(length), ..from };
                self.branches.push((from, to));
            }
        }
    }

    /// Adds the jumps to `.altinstr_aux`, where the Linux kernel tests for a property of the processor: with it, execution
    /// continues after the jump or, without it, where the second jump there leads (arch/x86/include/asm/cpufeature.h). The
    /// kernel replaces the jump at the start.
    fn add_alternatives(&mut self, elf: &Elf<'_>) {
        let Some(auxiliary) = section_named(elf, b".altinstr_aux") else { return };
        self.auxiliary = Some(auxiliary.index);
        for (field, target) in &self.fields {
            let RelocationTarget::Place(to) = target else { continue };
            if to.section != auxiliary.index {
                continue;
            }
            let first = self.fields.partition_point(|(place, _)| place < to);
            let rest = self.fields.get(first..).unwrap_or_default().iter();
            let rest = rest.take_while(|(place, _)| place.section == to.section);
            // The test refers to data.
            let mut targets = rest.filter_map(|(_, target)| match target {
                RelocationTarget::Place(place) => {
                    elf.section(place.section).filter(|s| elf.is_code(s)).map(|_| *place)
                }
                _ => None,
            });
            let from = field.address.checked_sub(1);
            if let (Some(address), Some(target)) = (from, targets.nth(1)) {
                self.branches.push((CodeAddress { address, ..*field }, target));
            }
        }
    }
}

/// The undefined symbols of a symbol table whose names have a meaning, by their indexes; and the bytes that may still be
/// read.
fn named_symbols(
    elf: &Elf<'_>,
    table: u32,
    room: usize,
) -> Option<(Vec<(u32, RelocationTarget)>, usize)> {
    let section = elf.section(table)?;
    let symbols = elf.section_data(section).ok()?;
    let room = room.checked_sub(symbols.len())?;
    let names = elf.section_data(elf.section(section.link)?).ok()?;
    let mut found = Vec::new();
    for (index, symbol) in (0..).zip(symbols.as_chunks::<ENTRY>().0) {
        // `st_shndx` of an undefined symbol is 0.
        if symbol.get(6..8) != Some(&[0, 0]) {
            continue;
        }
        let name = usize::try_from(number(symbol, 0)).ok().and_then(|offset| names.get(offset..));
        let name = name.unwrap_or_default();
        let end = name.iter().take(LONGEST_NAME).take_while(|byte| **byte != 0).count();
        let name = name.get(..end).unwrap_or_default();
        if name == b"__x86_return_thunk" {
            found.push((index, RelocationTarget::Return));
        } else if never_returns(name) {
            found.push((index, RelocationTarget::NoReturn));
        }
    }
    Some((found, room))
}

fn section_named<'s, 'e>(elf: &'s Elf<'e>, name: &[u8]) -> Option<&'s ElfSection<'e>> {
    elf.sections().iter().find(|section| section.name.bytes() == name)
}

/// The relocated fields of a section: their offsets and targets, ordered.
fn fields(elf: &Elf<'_>, name: &[u8]) -> Vec<(u64, Option<CodeAddress>)> {
    let section = section_named(elf, name).map_or(0, |section| section.index);
    let relocations = RelocationTable::load(elf, section).unwrap_or_default().relocations;
    let mut fields: Vec<_> = relocations.iter().map(|r| (r.offset, r.target())).collect();
    fields.sort_unstable();
    fields
}

/// The 4 bytes at an offset.
fn number(entry: &[u8; ENTRY], offset: usize) -> u32 {
    let bytes = entry.get(offset..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The 8 bytes at an offset.
fn word(entry: &[u8; ENTRY], offset: usize) -> u64 {
    let bytes = entry.get(offset..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
