//! Files whose ELF headers promise more than the file has, or lead to the same bytes many times. The meaning of each field
//! is in the System V ABI (gABI, "Object Files").

use sframe_validator::elf::{
    ElfKind, PF_R, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR, SHT_NOBITS,
    SHT_PROGBITS, SHT_RELA, SHT_SYMTAB, Segment,
};
use sframe_validator::write::SectionBuilder;
use sframe_validator::write::elf::{ElfWriter, SectionHeader, claims};
use sframe_validator::{Abi, Version};

use super::bombs::block;
use super::sound::{builder, two_functions};
use crate::torture::case::{Case, Duty, Format, Kind};

const ABI: Abi = Abi::Amd64;
/// The version that most readers know.
const VERSION: Version = Version::V2;

/// Headers that share the bytes of one part, as many as fit into 256 KB.
const HEADERS: u32 = 4_000;
/// Rows of 3 bytes in a section that headers share.
const ROWS: u32 = 20_000;
/// A size that no file has.
const HUGE: u64 = 1 << 40;
/// The indexes of section headers in a sound file.
const SFRAME: u32 = 2;
const NAMES: u32 = 3;

/// One case for each bomb.
pub(super) fn cases() -> Vec<Case> {
    let Ok(sound) = two_functions(VERSION, ABI).build() else { return Vec::new() };
    let Ok(shared) = shared_section().build() else { return Vec::new() };
    let bombs = without_reading(&sound.bytes).into_iter().chain(with_promises(&sound.bytes));
    bombs.chain(with_shared_parts(&sound.bytes, &shared.bytes)).filter_map(case).collect()
}

/// Name, what readers have to do, why, file.
type Bomb = (&'static str, Duty, &'static str, Option<Vec<u8>>);

fn case((name, duty, reason, bytes): Bomb) -> Option<Case> {
    let bytes = bytes?;
    let format = Some(Format { version: VERSION, abi: ABI, pc_relative: false });
    let name = format!("bombs/elf-{name}.elf");
    Some(Case { name, kind: Kind::Bomb, rule: None, reason: Some(reason), duty, format, bytes })
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
fn without_segments(section: &[u8]) -> Option<Vec<u8>> {
    file(ElfKind::Shared, section).0.finish().ok()
}

/// A library with the section, and program headers for it.
fn library(section: &[u8]) -> (ElfWriter<'static>, SectionHeader) {
    let (mut file, header) = file(ElfKind::Shared, section);
    for p_type in [PT_LOAD, PT_GNU_SFRAME] {
        file.segment(segment(p_type, &header));
    }
    (file, header)
}

const fn segment(p_type: u32, section: &SectionHeader) -> Segment {
    let SectionHeader { address, offset, size, .. } = *section;
    Segment { p_type, flags: PF_R, offset, address, file_size: size, memory_size: size }
}

/// A sound file with the section, whose header is also returned, and code that has no bytes in the file.
fn file(kind: ElfKind, section: &[u8]) -> (ElfWriter<'static>, SectionHeader) {
    let mut file = ElfWriter::new(ABI, kind);
    let code = SectionHeader {
        sh_type: SHT_NOBITS,
        flags: SHF_ALLOC | SHF_EXECINSTR,
        address: if kind == ElfKind::Relocatable { 0 } else { 0x1000 },
        offset: file.append(&[], 8),
        size: 0x100_0000,
        alignment: 4,
        ..SectionHeader::default()
    };
    file.section(".text", code);
    let header = data(&mut file, SHT_PROGBITS, section);
    file.section(".sframe", header);
    (file, header)
}

/// Adds the contents of a section at address 0, and returns a header for it.
fn data(file: &mut ElfWriter<'_>, sh_type: u32, contents: &[u8]) -> SectionHeader {
    SectionHeader {
        sh_type,
        flags: SHF_ALLOC,
        offset: file.append(contents, 8),
        size: contents.len() as u64,
        alignment: 8,
        ..SectionHeader::default()
    }
}

/// The number of sections is in the first section header's `sh_size`, as if it did not fit into `e_shnum`.
fn section_count(section: &[u8], count: u64) -> Option<Vec<u8>> {
    let mut file = without_segments(section)?;
    claims::tables(&mut file, |tables| tables.section_count = 0)?;
    claims::section(&mut file, 0, |first| first.size = count)?;
    Some(file)
}

/// The number of program headers is in the first section header's `sh_info`: 2^32 - 1.
fn segment_count(section: &[u8]) -> Option<Vec<u8>> {
    let mut file = library(section).0.finish().ok()?;
    claims::tables(&mut file, |tables| tables.segment_count = u16::MAX)?;
    claims::section(&mut file, 0, |first| first.info = u32::MAX)?;
    Some(file)
}

/// The index of the section of names is in the first section header's `sh_link`, and there is no such section.
fn names_index(section: &[u8]) -> Option<Vec<u8>> {
    let mut file = library(section).0.finish().ok()?;
    claims::tables(&mut file, |tables| tables.names_index = u16::MAX)?;
    claims::section(&mut file, 0, |first| first.link = u32::MAX)?;
    Some(file)
}

/// The largest possible number of section headers, each `size` bytes after the one before.
fn header_size(section: &[u8], size: u16) -> Option<Vec<u8>> {
    let mut file = without_segments(section)?;
    let claim =
        |tables: &mut claims::Tables| (tables.section_size, tables.section_count) = (size, 0xfeff);
    claims::tables(&mut file, claim)?;
    Some(file)
}

/// The end of the table of section headers wraps in 64 bits.
fn table_offset(section: &[u8]) -> Option<Vec<u8>> {
    let mut file = without_segments(section)?;
    claims::tables(&mut file, |tables| tables.sections_offset = u64::MAX - 63)?;
    Some(file)
}

/// The table of names is 64 KiB without a zero, so that no name ends; one name starts at its last byte.
fn names_without_end(section: &[u8]) -> Option<Vec<u8>> {
    let (mut file, _) = library(section);
    let offset = file.append(&[b'x'; 1 << 16], 8);
    let mut file = file.finish().ok()?;
    claims::section(&mut file, NAMES, |names| (names.offset, names.size) = (offset, 1 << 16))?;
    claims::section(&mut file, SFRAME, |section| section.name = (1 << 16) - 1)?;
    Some(file)
}

/// The table of names has a size, but no bytes in the file.
fn names_without_bytes(section: &[u8]) -> Option<Vec<u8>> {
    let mut file = library(section).0.finish().ok()?;
    claims::section(&mut file, NAMES, |names| (names.sh_type, names.size) = (SHT_NOBITS, HUGE))?;
    Some(file)
}

/// A symbol table of that size, which is its own table of names.
fn symbols(section: &[u8], size: u64, entry_size: u64) -> Option<Vec<u8>> {
    let (mut file, _) = library(section);
    let link = file.next_index();
    let header = data(&mut file, SHT_SYMTAB, &[0; 24]);
    file.section(
        ".symtab",
        SectionHeader { flags: 0, size, link, info: u32::MAX, entry_size, ..header },
    );
    file.finish().ok()
}

/// Adds relocations of the SFrame section, and returns their header.
fn relocations(file: &mut ElfWriter<'_>, entries: &[u8]) -> SectionHeader {
    SectionHeader { flags: 0, info: SFRAME, entry_size: 24, ..data(file, SHT_RELA, entries) }
}

fn relocation_count(section: &[u8]) -> Option<Vec<u8>> {
    let (mut file, _) = file(ElfKind::Relocatable, section);
    let header = relocations(&mut file, &[0; 24]);
    file.section(".rela.sframe", SectionHeader { size: HUGE, ..header });
    file.finish().ok()
}

/// Offset and size have a sum that is inside the file if the carry is ignored.
fn section_end_wraps(section: &[u8]) -> Option<Vec<u8>> {
    let mut file = without_segments(section)?;
    claims::section(&mut file, SFRAME, |section| {
        section.offset = 1_u64.wrapping_sub(section.size)
    })?;
    Some(file)
}

/// A compressed section of 2^62 bytes by its header (gABI, "Section Compression"). What follows the header cannot be
/// decompressed.
fn compressed_size(section: &[u8]) -> Option<Vec<u8>> {
    const ELFCOMPRESS_ZLIB: u64 = 1;
    let header = [ELFCOMPRESS_ZLIB, 1 << 62, 1].map(u64::to_le_bytes).concat();
    let mut file = without_segments(&[&header, section].concat())?;
    // The gABI allows the flag only on sections that are not loaded; readers heed it on any.
    claims::section(&mut file, SFRAME, |section| section.flags |= SHF_COMPRESSED)?;
    Some(file)
}

/// Many section headers of the same section.
fn shared_sections(section: &[u8]) -> Option<Vec<u8>> {
    let (mut file, header) = library(section);
    repeat(&mut file, ".sframe", header);
    file.finish().ok()
}

/// Many program headers of the same section.
fn shared_segments(section: &[u8]) -> Option<Vec<u8>> {
    let (mut file, header) = library(section);
    for _ in 2..HEADERS {
        file.segment(segment(PT_GNU_SFRAME, &header));
    }
    file.finish().ok()
}

/// Many headers of the same relocation section, which applies to the SFrame section.
fn shared_relocations(section: &[u8]) -> Option<Vec<u8>> {
    let (mut file, _) = file(ElfKind::Relocatable, section);
    // R_X86_64_PC32 at the start of the first function, repeated.
    let entry = [28, 2, 0].map(u64::to_le_bytes).concat();
    let header = relocations(&mut file, &entry.repeat(2_000));
    repeat(&mut file, ".rela.sframe", header);
    file.finish().ok()
}

/// Many headers of the same section of CFI: a CIE, and functions that refer to it.
fn shared_cfi(section: &[u8]) -> Option<Vec<u8>> {
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
    let (mut file, _) = library(section);
    let header = data(&mut file, SHT_PROGBITS, &cfi);
    repeat(&mut file, ".eh_frame", header);
    file.finish().ok()
}

/// Adds a section header until there are [`HEADERS`], the names' among them.
fn repeat(file: &mut ElfWriter<'static>, name: &'static str, header: SectionHeader) {
    while file.next_index() + 1 < HEADERS {
        file.section(name, header);
    }
}
