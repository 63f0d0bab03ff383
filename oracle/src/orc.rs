//! The Linux kernel's ORC tables (AMD64), as rows.
//!
//! `objtool` writes the tables when the kernel is built, from its own analysis of the instructions; the compiler's CFI is
//! not used. The kernel unwinds with them if `CONFIG_UNWINDER_ORC` is set, which is the default.
//!
//! # Sections
//!
//! | Section | Content |
//! |---|---|
//! | `.orc_unwind_ip` | an `i32` for each entry: the distance from the field to the first PC. In modules (`ET_REL`) it is 0, and `.rela.orc_unwind_ip` has an `R_X86_64_PC32` for it, whose `S + A` is the PC |
//! | `.orc_unwind` | 6 bytes for each entry: `sp_offset` and `bp_offset` (`i16`), and 16 bits of flags |
//! | `.orc_header` | 20 bytes: the SHA-1 of the header's text that defines the layout (from 6.4 on, and in later releases of 6.3) |
//!
//! Entry `n` of one table belongs to entry `n` of the other. `vmlinux` is sorted by address when it is linked
//! (`scripts/sorttable`), and a module when it is loaded. An entry is valid up to the next one. Of entries with the same
//! address, the last one is valid; undefined ones are sorted before others, because objtool ends each code section with
//! one, where the next section may start.
//!
//! # Flags
//!
//! | Bits | 4.14 to 6.2 | 6.3 | 6.4 and later |
//! |---|---|---|---|
//! | 0 to 3 | base of the previous SP | same | same |
//! | 4 to 7 | base of the previous BP | same | same |
//! | 8, 9 | type: 0 call, 1 regs, 2 partial regs | same | bits 8 to 10: 0 undefined, 1 end of stack, 2 call, 3 regs, 4 partial regs |
//! | 10 | end of stack, if there is no base of SP | signal | type |
//! | 11 | | end of stack, if there is no base of SP | signal |
//!
//! Bases up to 7.0: 0 undefined, 1 previous SP, 2 DX, 3 DI, 4 BP, 5 SP, 6 R10, 7 R13, 8 memory at BP, 9 memory at SP. From 7.1
//! on: 0 undefined, 1 AX, 2 DX, 3 SP, 4 BP, 5 DI, 6 R10, 7 R13, 8 previous SP, 9 memory at SP, 10 memory at BP. Up to 6.3, an
//! entry without a base of SP and without the mark of the stack's end is undefined: the unwinder gives up. Distributions
//! have backported the layout of 6.4 without `.orc_header` (RHEL 9.6), so without a header [`Orc::load`] keeps all older layouts
//! that fit the table, and decides only what they agree on.
//!
//! # Meaning
//!
//! The *previous SP* is the CFA: the caller's SP after the return. `base + sp_offset` is
//! - for *call*, the CFA; the return address is at CFA-8;
//! - for *regs*, the address of a `struct pt_regs`: BP is at 32, IP at 128, SP at 152;
//! - for *partial regs*, the address of its last part, which the processor pushes: IP is at 0, SP at 24.
//!
//! The offset is not used with R10, R13, AX, DI and DX. With *memory at BP* the address is loaded from BP+`sp_offset`; with
//! *memory at SP* it is loaded from SP, and `sp_offset` is added to it. A base of BP that is the previous SP means memory
//! at `base + sp_offset + bp_offset`; BP means memory at BP+`bp_offset`; undefined means that BP is unchanged (or in the
//! `struct pt_regs`). Signal means that the frame was interrupted, so that the PC in its caller is not after a call.
//!
//! # Sources
//!
//! Linux 6.1 and 6.12: `arch/x86/include/asm/orc_types.h`, `arch/x86/kernel/unwind_orc.c`, `tools/objtool/orc_gen.c`,
//! `tools/objtool/arch/x86/orc.c`, `scripts/orc_hash.sh`. The changes: commits `ffb1b4a41016` (6.3, signal), `fb799447ae29`
//! (6.4, types), `b9f174c811e3` (`.orc_header`), `1735858caa4b` and `96f3b16a9de5` (7.1, bases). drgn's `orc.h` lists the first
//! three layouts. LoongArch has ORC tables of another layout, which are not read.

mod entry;
mod error;
mod functions;
mod layout;
mod load;
mod meaning;

use sframe_validator::unwind::CodeAddress;

pub use entry::OrcEntry;
pub use error::{OrcError, OrcErrorKind};
pub use functions::OrcFunctions;
pub use layout::{Layout, RawEntry};
pub use meaning::{Doubt, Meaning};

/// The ORC tables of a file.
#[derive(Clone, Debug)]
pub struct Orc {
    entries: Vec<OrcEntry>,
    layouts: Vec<Layout>,
    defects: Vec<OrcError>,
}

impl Orc {
    /// The entries in the order of addresses. Where several have the same address, only the last one has a range.
    #[must_use]
    pub fn entries(&self) -> &[OrcEntry] {
        &self.entries
    }

    /// The layouts that the table may have: one, unless the file does not determine it. None if `.orc_header` is not
    /// known, or if no layout fits; then every entry is undecided.
    #[must_use]
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// Entries whose address cannot be read, or is not that of code. They are not among [`Orc::entries`].
    #[must_use]
    pub fn defects(&self) -> &[OrcError] {
        &self.defects
    }

    /// The entry that is valid at a place.
    #[must_use]
    pub fn find(&self, place: CodeAddress) -> Option<&OrcEntry> {
        let after = self.entries.partition_point(|entry| entry.start <= place);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        entry.contains(place).then_some(entry)
    }
}
