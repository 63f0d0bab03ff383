//! Whether code may use the stack below SP.

use super::Elf;

/// Sections of Linux and of its modules (include/asm-generic/vmlinux.lds.h, scripts/module.lds.S).
const OF_KERNELS: [&[u8]; 4] =
    [b".gnu.linkonce.this_module", b".modinfo", b"__ksymtab_strings", b".orc_unwind"];

impl Elf<'_> {
    /// Whether the file belongs to a kernel: it has a section that only Linux and its modules have.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.sections.iter().any(|section| OF_KERNELS.contains(&section.name.bytes()))
    }

    /// Whether the file's code may rely on the red zone of its machine, if that has one: signal handlers leave 128 bytes below SP alone
    /// on AMD64 (psABI 3.2.2). Kernels are built without it, because interrupts use the same stack.
    #[must_use]
    pub const fn has_red_zone(&self) -> bool {
        self.has_red_zone
    }

    /// Takes the file's code for built without a red zone (`-mno-red-zone`).
    pub const fn deny_red_zone(&mut self) {
        self.has_red_zone = false;
    }
}
