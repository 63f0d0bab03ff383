//! Numbers of the ELF specification, by their names there. `object` gives them types; the views and the writer have plain numbers, as
//! files may have others.

use object::elf;

/// `SHT_GNU_SFRAME` (binutils 2.45).
pub const SHT_GNU_SFRAME: u32 = 0x6fff_fff4;
/// `PT_GNU_SFRAME`.
pub const PT_GNU_SFRAME: u32 = 0x6474_e554;
/// `SHT_PROGBITS`.
pub const SHT_PROGBITS: u32 = elf::SHT_PROGBITS.0;
/// `SHT_SYMTAB`.
pub const SHT_SYMTAB: u32 = elf::SHT_SYMTAB.0;
/// `SHT_STRTAB`.
pub const SHT_STRTAB: u32 = elf::SHT_STRTAB.0;
/// `SHT_RELA`.
pub const SHT_RELA: u32 = elf::SHT_RELA.0;
/// `SHT_HASH`.
pub const SHT_HASH: u32 = elf::SHT_HASH.0;
/// `SHT_DYNAMIC`.
pub const SHT_DYNAMIC: u32 = elf::SHT_DYNAMIC.0;
/// `SHT_NOTE`.
pub const SHT_NOTE: u32 = elf::SHT_NOTE.0;
/// `SHT_NOBITS`.
pub const SHT_NOBITS: u32 = elf::SHT_NOBITS.0;
/// `SHT_REL`.
pub const SHT_REL: u32 = elf::SHT_REL.0;
/// `SHT_DYNSYM`.
pub const SHT_DYNSYM: u32 = elf::SHT_DYNSYM.0;
/// `SHT_INIT_ARRAY`.
pub const SHT_INIT_ARRAY: u32 = elf::SHT_INIT_ARRAY.0;
/// `SHT_FINI_ARRAY`.
pub const SHT_FINI_ARRAY: u32 = elf::SHT_FINI_ARRAY.0;
/// `SHT_GROUP`.
pub const SHT_GROUP: u32 = elf::SHT_GROUP.0;
/// `SHT_SYMTAB_SHNDX`.
pub const SHT_SYMTAB_SHNDX: u32 = elf::SHT_SYMTAB_SHNDX.0;
/// `SHT_RELR`.
pub const SHT_RELR: u32 = elf::SHT_RELR.0;
/// `SHT_CREL`.
pub const SHT_CREL: u32 = elf::SHT_CREL.0;
/// `SHT_GNU_HASH`.
pub const SHT_GNU_HASH: u32 = elf::SHT_GNU_HASH.0;
/// `SHT_GNU_VERSYM`.
pub const SHT_GNU_VERSYM: u32 = elf::SHT_GNU_VERSYM.0;
/// `SHF_WRITE`.
pub const SHF_WRITE: u64 = elf::SHF_WRITE.0;
/// `SHF_ALLOC`.
pub const SHF_ALLOC: u64 = elf::SHF_ALLOC.0;
/// `SHF_EXECINSTR`.
pub const SHF_EXECINSTR: u64 = elf::SHF_EXECINSTR.0;
/// `SHF_INFO_LINK`.
pub const SHF_INFO_LINK: u64 = elf::SHF_INFO_LINK.0;
/// `SHF_GROUP`.
pub const SHF_GROUP: u64 = elf::SHF_GROUP.0;
/// `SHF_COMPRESSED`.
pub const SHF_COMPRESSED: u64 = elf::SHF_COMPRESSED.0;
/// `PT_LOAD`.
pub const PT_LOAD: u32 = elf::PT_LOAD.0;
/// `PT_DYNAMIC`.
pub const PT_DYNAMIC: u32 = elf::PT_DYNAMIC.0;
/// `PT_INTERP`.
pub const PT_INTERP: u32 = elf::PT_INTERP.0;
/// `PT_NOTE`.
pub const PT_NOTE: u32 = elf::PT_NOTE.0;
/// `PT_PHDR`.
pub const PT_PHDR: u32 = elf::PT_PHDR.0;
/// `PT_GNU_EH_FRAME`.
pub const PT_GNU_EH_FRAME: u32 = elf::PT_GNU_EH_FRAME.0;
/// `PF_X`.
pub const PF_X: u32 = elf::PF_X.0;
/// `PF_W`.
pub const PF_W: u32 = elf::PF_W.0;
/// `PF_R`.
pub const PF_R: u32 = elf::PF_R.0;
/// `EM_386`.
pub const EM_386: u16 = elf::EM_386.0;
/// `EM_S390`.
pub const EM_S390: u16 = elf::EM_S390.0;
/// `EM_X86_64`.
pub const EM_X86_64: u16 = elf::EM_X86_64.0;
/// `EM_AARCH64`.
pub const EM_AARCH64: u16 = elf::EM_AARCH64.0;
