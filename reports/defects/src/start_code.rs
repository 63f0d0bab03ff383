//! The code where a program starts, which comes from glibc's start files. It is recognised by its instructions, which are the same
//! in all releases of the last years, and by the note that `crt1.o` brings along.

use std::collections::BTreeSet;

use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind, SymbolTable};
use sframe_validator::unwind::CodeAddress;

/// The section of glibc's note about the kernel that a program needs. It is in `crt1.o`, in which it is followed by the code.
const NOTE: &[u8] = b".note.ABI-tag";
/// The number of bytes of a function that are looked at.
const LOOKED_AT: u64 = 24;

/// `endbr64`, and `nop` and `bti c`: what may come before the first instruction.
const MARKS: [&[u8]; 3] =
    [&[0xf3, 0x0f, 0x1e, 0xfa], &[0x1f, 0x20, 0x03, 0xd5], &[0x5f, 0x24, 0x03, 0xd5]];

/// What a function begins with on AMD64, AArch64 and s390x.
type Beginnings = [&'static [u8]; 3];

/// The entry.
const ENTRY: Beginnings = [
    // xor %ebp, %ebp; mov %rdx, %r9; pop %rsi; mov %rsp, %rdx; and $-16, %rsp; push %rax; push %rsp
    &[0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54],
    // mov x29, 0; mov x30, 0; mov x5, x0; ldr x1, [sp]; add x2, sp, 8
    &[
        0x1d, 0x00, 0x80, 0xd2, 0x1e, 0x00, 0x80, 0xd2, 0xe5, 0x03, 0x00, 0xaa, 0xe1, 0x03, 0x40,
        0xf9, 0xe2, 0x23, 0x00, 0x91,
    ],
    // la %r4, 8(%r15); lg %r3, 0(%r15); lghi %r0, -16; ngr %r15, %r0
    &[
        0x41, 0x40, 0xf0, 0x08, 0xe3, 0x30, 0xf0, 0x00, 0x00, 0x04, 0xa7, 0x09, 0xff, 0xf0, 0xb9,
        0x80, 0x00, 0xf0,
    ],
];

/// A return.
const RETURN: Beginnings = [&[0xc3], &[0xc0, 0x03, 0x5f, 0xd6], &[0x07, 0xfe]];

/// A store of registers.
const STORE: Beginnings = [&[0x41, 0x57], &[0xfd, 0x7b, 0xbc, 0xa9], &[0xeb]];

/// The load of an address for a jump to `main`. Only s390x has CFI of its own for it.
const JUMP: Beginnings = [&[0xff, 0x25], &[0x90, 0x00, 0x00, 0x10], &[0xc0, 0x10]];

/// The other functions of start files that have CFI.
const OTHERS: [(&[u8], &Beginnings); 4] = [
    (b"__wrap_main", &JUMP),
    (b"_dl_relocate_static_pie", &RETURN),
    (b"__libc_csu_fini", &RETURN),
    (b"__libc_csu_init", &STORE),
];

/// The functions of start files begin at multiples of this.
const ALIGNMENT: u64 = 16;
/// In programs with fixed addresses, a function that only returns follows the entry, at most this many times [`ALIGNMENT`] after it.
const MOST_ALIGNED: u64 = 6;

/// The start files in a file, if they are glibc's.
pub(crate) struct StartFiles<'f, 'e> {
    elf: &'f Elf<'e>,
    /// The place of the machine in [`Beginnings`].
    machine: usize,
}

impl<'f, 'e> StartFiles<'f, 'e> {
    /// `None` if the file was not linked with glibc's start files.
    pub(crate) fn of(elf: &'f Elf<'e>) -> Option<StartFiles<'f, 'e>> {
        let is_linked = matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared);
        let has_note = || elf.sections().iter().any(|section| section.name.bytes() == NOTE);
        let machine = match elf.abi()? {
            Abi::Amd64 => 0,
            // Instructions are little-endian on every AArch64 system.
            Abi::Aarch64Little | Abi::Aarch64Big => 1,
            Abi::S390x => 2,
        };
        (is_linked && has_note()).then_some(StartFiles { elf, machine })
    }

    /// Whether a function is one of the start files, by its code and by its place or the symbol at its start.
    fn contain(&self, start: CodeAddress, symbol: Option<&[u8]>) -> bool {
        let entry = self.elf.entry();
        let is_entry = entry != 0 && entry == start.address || symbol == Some(b"_start");
        let named = OTHERS.iter().find(|(name, _)| Some(*name) == symbol);
        is_entry && self.begins(start, &ENTRY)
            || named.is_some_and(|(_, beginning)| self.begins(start, beginning))
            || symbol.is_none() && self.after_entry() == Some(start)
    }

    /// Where `_dl_relocate_static_pie` is if it has no symbol: it follows the entry, and only returns.
    fn after_entry(&self) -> Option<CodeAddress> {
        let entry = CodeAddress::absolute(self.elf.entry());
        let after = (1..=MOST_ALIGNED).map(|n| entry.address.wrapping_add(n * ALIGNMENT));
        let mut after = after.map(CodeAddress::absolute);
        after.find(|at| self.begins(*at, &RETURN)).filter(|_| self.begins(entry, &ENTRY))
    }

    /// Whether a function begins in this way, maybe after a mark for branches.
    fn begins(&self, start: CodeAddress, with: &Beginnings) -> bool {
        let code = self.elf.code_bytes(start, LOOKED_AT).unwrap_or_default();
        let code = MARKS.into_iter().find_map(|mark| code.strip_prefix(mark)).unwrap_or(code);
        with.get(self.machine).is_some_and(|beginning| code.starts_with(beginning))
    }

    /// Where their functions begin.
    pub(crate) fn starts(&self, symbols: &SymbolTable<'_>) -> BTreeSet<u64> {
        let entry = CodeAddress::absolute(self.elf.entry());
        let named = symbols.symbols().iter();
        let named = named.map(|symbol| (symbol.start, Some(symbol.name.bytes())));
        let after = self.after_entry().filter(|at| symbols.find(*at).is_none());
        let all =
            named.chain([Some(entry), after].into_iter().flatten().map(|start| (start, None)));
        let own = all.filter(|(start, symbol)| self.contain(*start, *symbol));
        own.map(|(start, _)| start.address).collect()
    }

    /// Whether a function is one of the start files, with the symbol at its start.
    pub(crate) fn contain_with(&self, start: CodeAddress, symbols: &SymbolTable<'_>) -> bool {
        let symbol = symbols.find(start).filter(|symbol| symbol.start == start);
        self.contain(start, symbol.map(|symbol| symbol.name.bytes()))
    }
}
