//! The relocations of code in a relocatable object, such as a kernel module: where its calls and jumps lead.

use sframe_validator::elf::{
    EM_AARCH64, EM_X86_64, Elf, ElfKind, ElfSection, Relocation, RelocationTable,
};
use sframe_validator::unwind::CodeAddress;

use super::effect::{Condition, Next};

const SHT_RELA: u32 = 4;
/// The size of an entry of `SHT_RELA` and of a symbol table, in bytes.
const ENTRY: usize = 24;

/// Functions of the Linux kernel that never return (`tools/objtool/noreturns.h`), as far as modules call them, and those of
/// the C library that compilers call themselves.
const ENDLESS: [&[u8]; 12] = [
    b"__fortify_panic",
    b"__module_put_and_kthread_exit",
    b"__stack_chk_fail",
    b"__ubsan_handle_builtin_unreachable",
    b"abort",
    b"do_exit",
    b"fortify_panic",
    b"kthread_complete_and_exit",
    b"kthread_exit",
    b"kunit_try_catch_throw",
    b"panic",
    b"usercopy_abort",
];

/// Where the target of a relocated call or jump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// In the same file.
    Place(CodeAddress),
    /// In the caller: a jump to the Linux kernel's `__x86_return_thunk` is a return.
    Return,
    /// In a function that does not return.
    Endless,
    /// In another file.
    Elsewhere,
}

/// The relocations of a file's code.
#[derive(Debug, Default)]
pub(super) struct Relocated {
    /// The places of relocated fields, ordered, and their targets if they are calls or jumps.
    leads: Vec<(CodeAddress, Lead)>,
    /// Instructions that may continue at another place, ordered: the kernel replaces them with jumps, or handles their
    /// exceptions there.
    branches: Vec<(CodeAddress, CodeAddress)>,
}

impl Relocated {
    /// The relocations of a relocatable object; nothing for other files.
    pub(super) fn of(elf: &Elf<'_>) -> Relocated {
        let mut found = Relocated::default();
        if elf.kind() != ElfKind::Relocatable {
            return found;
        }
        for section in elf.code_sections() {
            let table = RelocationTable::load(elf, section.index).unwrap_or_default();
            let place = |address| CodeAddress { section: section.index, address };
            let leads = table.relocations.iter().map(|r| (place(r.offset), lead(elf.machine(), r)));
            found.leads.extend(leads);
        }
        found.leads.sort_by_key(|(place, _)| *place);
        found.name_targets(elf);
        // The Linux kernel's tables (include/linux/jump_label.h, arch/x86/include/asm/extable.h): pairs of places, and 8 or 4
        // bytes of other content.
        for (name, entry) in [(b"__jump_table".as_slice(), 16), (b"__ex_table", 12)] {
            let named = |section: &&ElfSection<'_>| section.name.bytes() == name;
            if let Some(section) = elf.sections().iter().find(named) {
                found.add_branches(elf, section.index, entry);
            }
        }
        found.branches.sort_unstable();
        found
    }

    /// Finds the relocations with undefined symbols whose names have a meaning.
    fn name_targets(&mut self, elf: &Elf<'_>) {
        // Many headers that lead to the same bytes must not multiply the work.
        let mut room = elf.data().len();
        let mut symbols: (u32, Vec<(u32, Lead)>) = (u32::MAX, Vec::new());
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
                let first = self.leads.partition_point(|(relocated, _)| *relocated < place);
                let target = symbols.1.get(known).map(|(_, target)| *target);
                if let Some(lead) = self.leads.get_mut(first).filter(|lead| lead.0 == place)
                    && let Some(target) = target
                {
                    lead.1 = target;
                }
            }
        }
    }

    /// Adds the pairs of a table: the first field of an entry is the place of an instruction, the second one where it may
    /// continue.
    fn add_branches(&mut self, elf: &Elf<'_>, table: u32, entry: u64) {
        let relocations = RelocationTable::load(elf, table).unwrap_or_default().relocations;
        let mut fields: Vec<(u64, Option<CodeAddress>)> =
            relocations.iter().map(|r| (r.offset, r.target())).collect();
        fields.sort_unstable();
        for pair in fields.windows(2) {
            let [(first, Some(from)), (second, Some(to))] = pair else { continue };
            if first.is_multiple_of(entry) && first.checked_add(4) == Some(*second) {
                self.branches.push((*from, *to));
            }
        }
    }

    /// The target of an instruction of `length` bytes, if it is relocated.
    pub(super) fn lead(&self, place: CodeAddress, length: u8) -> Option<Lead> {
        let first = self.leads.partition_point(|(relocated, _)| *relocated < place);
        let (relocated, lead) = self.leads.get(first)?;
        let is_inside = relocated.section == place.section
            && relocated.address - place.address < u64::from(length);
        is_inside.then_some(*lead)
    }

    /// Where else execution may continue after the instruction at a place.
    pub(super) fn branch(&self, place: CodeAddress) -> Option<CodeAddress> {
        let first = self.branches.partition_point(|(from, _)| *from < place);
        self.branches.get(first).filter(|(from, _)| *from == place).map(|(_, to)| *to)
    }

    /// Where execution continues after an instruction of `length` bytes, if relocations determine it. Only targets in the
    /// same section have addresses.
    pub(super) fn next(&self, place: CodeAddress, length: u8, next: Next) -> Next {
        let next = match (next, self.lead(place, length)) {
            (Next::Jump(_), Some(lead)) => match lead {
                Lead::Place(to) if to.section == place.section => Next::Jump(to.address),
                Lead::Return => Next::Return,
                Lead::Place(_) | Lead::Endless | Lead::Elsewhere => Next::Stop,
            },
            (Next::Branch(_, condition), Some(lead)) => match lead {
                Lead::Place(to) if to.section == place.section => {
                    Next::Branch(to.address, condition)
                }
                _ => Next::Following,
            },
            (Next::Call(Some(_)), Some(lead)) => match lead {
                Lead::Place(to) if to.section == place.section => Next::Call(Some(to.address)),
                Lead::Endless => Next::Stop,
                _ => Next::Call(None),
            },
            (next, _) => next,
        };
        let branch = || self.branch(place).filter(|to| to.section == place.section);
        match next {
            Next::Following => branch().map_or(next, |to| Next::Branch(to.address, Condition::Other)),
            // A jump that the kernel may replace with an instruction that does nothing.
            Next::Jump(to) if branch().is_some() => Next::Branch(to, Condition::Other),
            _ => next,
        }
    }
}

/// The target of a relocation, if it is one of a call or a jump with a defined symbol.
fn lead(machine: u16, relocation: &Relocation) -> Lead {
    // R_X86_64_PC32 and R_X86_64_PLT32: the field is at the end of the instruction, from which the processor counts.
    // R_AARCH64_TSTBR14, R_AARCH64_CONDBR19, R_AARCH64_JUMP26, R_AARCH64_CALL26.
    let after = match (machine, relocation.kind) {
        (EM_X86_64, 2 | 4) => 4,
        (EM_AARCH64, 279 | 280 | 282 | 283) => 0,
        _ => return Lead::Elsewhere,
    };
    relocation.target().map_or(Lead::Elsewhere, |target| {
        let address = target.address.wrapping_add(after);
        Lead::Place(CodeAddress { address, ..target })
    })
}

/// The undefined symbols of a symbol table whose names have a meaning, by their indexes; and the bytes that may still be
/// read.
fn named_symbols(elf: &Elf<'_>, table: u32, room: usize) -> Option<(Vec<(u32, Lead)>, usize)> {
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
        let is = |wanted: &[u8]| {
            name.strip_prefix(wanted).is_some_and(|rest| rest.first() == Some(&0))
        };
        if is(b"__x86_return_thunk") {
            found.push((index, Lead::Return));
        } else if ENDLESS.iter().any(|endless| is(endless)) {
            found.push((index, Lead::Endless));
        }
    }
    Some((found, room))
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
