//! Files whose ELF headers promise more than the file has, or lead to the same bytes many times. The meaning of each field
//! is in the System V ABI (gABI, "Object Files").

use sframe_validator::builder::SectionBuilder;
use sframe_validator::elf::{
    PF_R, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS, SHT_PROGBITS,
};
use sframe_validator::{Abi, Version};

use super::bombs::block;
use super::headers::{ET_DYN, ET_REL, Headers, SectionHeader, Segment};
use super::sound::{builder, two_functions};
use crate::torture::case::{Case, Duty, Format, Kind};

const ABI: Abi = Abi::Amd64;
/// The version that most readers know.
const VERSION: Version = Version::V2;

const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_RELA: u32 = 4;
const SHF_COMPRESSED: u64 = 0x800;
/// Headers that share the bytes of one part, as many as fit into 256 KB.
const HEADERS: usize = 4_000;
/// Rows of 3 bytes in a section that headers share.
const ROWS: u32 = 20_000;
/// A size that no file has.
const HUGE: u64 = 1 << 40;

const NAMES: &[u8] = b"\0.text\0.sframe\0.shstrtab\0.symtab\0.rela.sframe\0.eh_frame\0";
const TEXT: u32 = 1;
const SFRAME: u32 = 7;
const SHSTRTAB: u32 = 15;
const SYMTAB: u32 = 25;
const RELA_SFRAME: u32 = 33;
const EH_FRAME: u32 = 46;

/// Offsets of fields in the ELF header.
mod at {
    pub(super) const E_SHOFF: usize = 0x28;
    pub(super) const E_PHNUM: usize = 0x38;
    pub(super) const E_SHENTSIZE: usize = 0x3a;
    pub(super) const E_SHNUM: usize = 0x3c;
    pub(super) const E_SHSTRNDX: usize = 0x3e;
}

/// One case for each bomb.
pub(super) fn cases() -> Vec<Case> {
    let Ok(sound) = two_functions(VERSION, ABI).build() else { return Vec::new() };
    let Ok(shared) = shared_section().build() else { return Vec::new() };
    let bombs = without_reading(&sound.bytes).into_iter().chain(with_promises(&sound.bytes));
    bombs.chain(with_shared_parts(&sound.bytes, &shared.bytes)).map(case).collect()
}

/// Name, what readers have to do, why, file.
type Bomb = (&'static str, Duty, &'static str, Vec<u8>);

fn case((name, duty, reason, bytes): Bomb) -> Case {
    let format = Some(Format { version: VERSION, abi: ABI, pc_relative: false });
    let name = format!("bombs/elf-{name}.elf");
    Case { name, kind: Kind::Bomb, rule: None, reason: Some(reason), duty, format, bytes }
}

/// Files whose headers, or whose section, are outside the file.
fn without_reading(sound: &[u8]) -> [Bomb; 6] {
    use Duty::Refuse;
    [
        (
            "section-count",
            Refuse,
            "The number of sections is 2^40: the table of section headers ends outside the file.",
            section_count(sound, HUGE),
        ),
        (
            "table-over-itself",
            Refuse,
            "e_shentsize is 1 instead of 64: 65,279 section headers overlap, and end outside the file.",
            header_size(sound, 1),
        ),
        (
            "headers-of-no-size",
            Refuse,
            "e_shentsize is 0 instead of 64: 65,279 section headers have the same bytes.",
            header_size(sound, 0),
        ),
        (
            "table-at-end-of-addresses",
            Refuse,
            "e_shoff is 2^64 - 64: the table of section headers starts outside the file, and its end wraps.",
            table_offset(sound),
        ),
        (
            "section-end-wraps",
            Refuse,
            "The section's sh_offset plus sh_size wraps in 64 bits: it starts outside the file.",
            section_end_wraps(sound),
        ),
        (
            "compressed-size",
            Refuse,
            "The section is compressed, of 2^62 bytes by its header, and cannot be decompressed.",
            compressed_size(sound),
        ),
    ]
}

/// Files that have the section, and headers of other parts that they do not have.
fn with_promises(sound: &[u8]) -> [Bomb; 8] {
    use Duty::Survive;
    [
        (
            "section-count-in-header",
            Survive,
            "The number of sections is in the first section header, as if it were too large for e_shnum.",
            section_count(sound, 4),
        ),
        (
            "segment-count",
            Survive,
            "The number of program headers is 2^32 - 1, and the file has two.",
            segment_count(sound),
        ),
        (
            "names-index",
            Survive,
            "The section of section names is number 2^32 - 1, which the file does not have.",
            names_index(sound),
        ),
        (
            "names-without-end",
            Survive,
            "The table of section names is 64 KiB without a zero: no name in it ends.",
            names_without_end(sound),
        ),
        (
            "names-without-bytes",
            Survive,
            "The table of section names is 1 TiB long, and has no bytes in the file.",
            names_without_bytes(sound),
        ),
        (
            "symbol-count",
            Survive,
            "The symbol table is 1 TiB long by its header: it ends outside the file.",
            symbols(sound, HUGE, 24),
        ),
        (
            "symbols-of-no-size",
            Survive,
            "The symbol table's sh_entsize is 0: it has any number of symbols.",
            symbols(sound, 24, 0),
        ),
        (
            "relocation-count",
            Survive,
            "The section's relocations are 1 TiB long by their header: they end outside the file.",
            relocation_count(sound),
        ),
    ]
}

/// Files with many headers of the same bytes.
fn with_shared_parts(sound: &[u8], shared: &[u8]) -> [Bomb; 4] {
    use Duty::Survive;
    [
        (
            "shared-relocations",
            Survive,
            "4,000 section headers share 2,000 relocations: 8 million of one section.",
            shared_relocations(sound),
        ),
        (
            "shared-cfi",
            Survive,
            "4,000 section headers share an .eh_frame of 2,000 functions: 8 million functions.",
            shared_cfi(sound),
        ),
        (
            "shared-sections",
            Survive,
            "4,000 section headers share an .sframe of 20,000 rows: 80 million rows.",
            shared_sections(shared),
        ),
        (
            "shared-segments",
            Survive,
            "4,000 program headers share an .sframe of 20,000 rows: 80 million rows.",
            shared_segments(shared),
        ),
    ]
}

/// A section of many rows.
fn shared_section() -> SectionBuilder {
    let mut builder = builder(VERSION, ABI);
    builder.function(block(ROWS));
    builder
}

/// A file without program headers, so that only section headers lead to the section.
fn without_segments(section: &[u8]) -> Headers {
    let mut file = sound_file(ET_DYN, section);
    file.segments.clear();
    file
}

/// A sound file with the section, the names of sections, and code that has no bytes in the file.
fn sound_file(kind: u16, section: &[u8]) -> Headers {
    let mut file = Headers::new(kind);
    let code = file.append(&[]);
    let offset = file.append(section);
    let names = file.append(NAMES);
    let size = section.len() as u64;
    file.sections.push(SectionHeader::default());
    file.sections.push(SectionHeader {
        name: TEXT,
        kind: SHT_NOBITS,
        flags: SHF_ALLOC | SHF_EXECINSTR,
        address: if kind == ET_REL { 0 } else { 0x1000 },
        offset: code,
        size: 0x100_0000,
        ..SectionHeader::default()
    });
    file.sections.push(SectionHeader {
        name: SFRAME,
        kind: SHT_PROGBITS,
        flags: SHF_ALLOC,
        offset,
        size,
        ..SectionHeader::default()
    });
    file.sections.push(SectionHeader {
        name: SHSTRTAB,
        kind: SHT_STRTAB,
        offset: names,
        size: NAMES.len() as u64,
        ..SectionHeader::default()
    });
    if kind == ET_DYN {
        for kind in [PT_LOAD, PT_GNU_SFRAME] {
            file.segments.push(Segment { kind, flags: PF_R, offset, size });
        }
    }
    file
}

/// Indexes into [`Headers::sections`].
const OF_SFRAME: usize = 2;
const OF_NAMES: usize = 3;
const OF_SYMBOLS: u32 = 4;

/// The number of sections is in the first section header's `sh_size`, as if it did not fit into `e_shnum`.
fn section_count(section: &[u8], count: u64) -> Vec<u8> {
    let mut file = without_segments(section);
    change(&mut file, 0, |first| first.size = count);
    put(file.bytes(), at::E_SHNUM, &0_u16.to_le_bytes())
}

/// The number of program headers is in the first section header's `sh_info`: 2^32 - 1.
fn segment_count(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    change(&mut file, 0, |first| first.info = u32::MAX);
    put(file.bytes(), at::E_PHNUM, &u16::MAX.to_le_bytes())
}

/// The index of the section of names is in the first section header's `sh_link`, and there is no such section.
fn names_index(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    change(&mut file, 0, |first| first.link = u32::MAX);
    put(file.bytes(), at::E_SHSTRNDX, &u16::MAX.to_le_bytes())
}

/// The largest possible number of section headers, each `size` bytes after the one before.
fn header_size(section: &[u8], size: u16) -> Vec<u8> {
    let bytes = without_segments(section).bytes();
    let bytes = put(bytes, at::E_SHENTSIZE, &size.to_le_bytes());
    put(bytes, at::E_SHNUM, &0xfeff_u16.to_le_bytes())
}

/// The end of the table of section headers wraps in 64 bits.
fn table_offset(section: &[u8]) -> Vec<u8> {
    put(without_segments(section).bytes(), at::E_SHOFF, &(u64::MAX - 63).to_le_bytes())
}

/// The table of names is 64 KiB without a zero, so that no name ends; one name starts at its last byte.
fn names_without_end(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    let offset = file.append(&[b'x'; 1 << 16]);
    change(&mut file, OF_NAMES, |names| (names.offset, names.size) = (offset, 1 << 16));
    change(&mut file, OF_SFRAME, |section| section.name = (1 << 16) - 1);
    file.bytes()
}

/// The table of names has a size, but no bytes in the file.
fn names_without_bytes(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    change(&mut file, OF_NAMES, |names| (names.kind, names.size) = (SHT_NOBITS, HUGE));
    file.bytes()
}

/// A symbol table of that size, which is its own table of names.
fn symbols(section: &[u8], size: u64, entry_size: u64) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    let offset = file.append(&[0; 24]);
    file.sections.push(SectionHeader {
        name: SYMTAB,
        kind: SHT_SYMTAB,
        offset,
        size,
        link: OF_SYMBOLS,
        info: u32::MAX,
        entry_size,
        ..SectionHeader::default()
    });
    file.bytes()
}

fn relocations(offset: u64, size: u64) -> SectionHeader {
    SectionHeader {
        name: RELA_SFRAME,
        kind: SHT_RELA,
        offset,
        size,
        // `OF_SFRAME`.
        info: 2,
        entry_size: 24,
        ..SectionHeader::default()
    }
}

fn relocation_count(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_REL, section);
    let offset = file.append(&[0; 24]);
    file.sections.push(relocations(offset, HUGE));
    file.bytes()
}

/// Offset and size have a sum that is inside the file if the carry is ignored.
fn section_end_wraps(section: &[u8]) -> Vec<u8> {
    let mut file = without_segments(section);
    change(&mut file, OF_SFRAME, |section| section.offset = 0_u64.wrapping_sub(section.size - 1));
    file.bytes()
}

/// A compressed section of 2^62 bytes by its header (gABI, "Section Compression"). What follows the header cannot be
/// decompressed.
fn compressed_size(section: &[u8]) -> Vec<u8> {
    const ELFCOMPRESS_ZLIB: u64 = 1;
    let header = [ELFCOMPRESS_ZLIB, 1 << 62, 1].map(u64::to_le_bytes).concat();
    let mut file = without_segments(&[&header, section].concat());
    // The gABI allows the flag only on sections that are not loaded; readers heed it on any.
    change(&mut file, OF_SFRAME, |section| section.flags |= SHF_COMPRESSED);
    file.bytes()
}

/// Many section headers of the same section.
fn shared_sections(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    repeat(&mut file, OF_SFRAME);
    file.bytes()
}

/// Many program headers of the same section.
fn shared_segments(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_DYN, section);
    if let Some(last) = file.segments.last().copied() {
        file.segments.resize(HEADERS, last);
    }
    file.bytes()
}

/// Many headers of the same relocation section, which applies to the SFrame section.
fn shared_relocations(section: &[u8]) -> Vec<u8> {
    let mut file = sound_file(ET_REL, section);
    // R_X86_64_PC32 at the start of the first function, repeated.
    let entry = [28, 2, 0].map(u64::to_le_bytes).concat();
    let offset = file.append(&entry.repeat(2_000));
    let place = file.sections.len();
    file.sections.push(relocations(offset, 24 * 2_000));
    repeat(&mut file, place);
    file.bytes()
}

/// Many headers of the same section of CFI: a CIE, and functions that refer to it.
fn shared_cfi(section: &[u8]) -> Vec<u8> {
    // The CIE: length, identifier 0, version 1, no augmentation, factors 1 and -8, return address in register 16,
    // `DW_CFA_def_cfa` SP + 8. An FDE has the distance back to the CIE, and start and size, both absolute.
    let mut cfi = vec![12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 12, 7, 8];
    for number in 0..2_000_u32 {
        let back = 16 + number * 24 + 4;
        cfi.extend(20_u32.to_le_bytes());
        cfi.extend(back.to_le_bytes());
        cfi.extend((0x1000 + u64::from(number) * 16).to_le_bytes());
        cfi.extend(16_u64.to_le_bytes());
    }
    let mut file = sound_file(ET_DYN, section);
    let (offset, size) = (file.append(&cfi), cfi.len() as u64);
    let place = file.sections.len();
    file.sections.push(SectionHeader {
        name: EH_FRAME,
        kind: SHT_PROGBITS,
        flags: SHF_ALLOC,
        offset,
        size,
        ..SectionHeader::default()
    });
    repeat(&mut file, place);
    file.bytes()
}

/// Repeats the section header at `place` until there are [`HEADERS`].
fn repeat(file: &mut Headers, place: usize) {
    if let Some(header) = file.sections.get(place).cloned() {
        file.sections.resize(HEADERS, header);
    }
}

fn change(file: &mut Headers, place: usize, change: impl FnOnce(&mut SectionHeader)) {
    if let Some(header) = file.sections.get_mut(place) {
        change(header);
    }
}

fn put(mut bytes: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    for (byte, new) in bytes.iter_mut().skip(at).zip(value) {
        *byte = *new;
    }
    bytes
}
