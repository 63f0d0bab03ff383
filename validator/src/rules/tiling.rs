//! How header, function table and rows fill the section. All sums are of 32-bit fields in 64 bits,
//! so none can wrap.

use super::context::{Check, SectionContext};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Endian;
use crate::section::{Header, MAGIC, PREAMBLE_SIZE, Section, Version, field};

/// The header, unless its own end is outside the section: then no other offset means anything.
fn header<'a>(section: &SectionContext<'a>) -> Option<&'a Header> {
    let header = section.header();
    (header.size() <= section.size()).then_some(header)
}

/// Whether a whole preamble of a known version stands at `offset`.
fn preamble_at(section: &Section<'_>, offset: u64) -> bool {
    let bytes = usize::try_from(offset).ok().and_then(|offset| section.data().get(offset..));
    let Some([a, b, version, _, ..]) = bytes else { return false };
    let magic = match section.endian() {
        Endian::Little => u16::from_le_bytes([*a, *b]),
        Endian::Big => u16::from_be_bytes([*a, *b]),
    };
    magic == MAGIC && Version::from_number(*version).is_some()
}

/// Where a second section starts behind this one's content, directly or at the next multiple of 8.
pub(super) fn concatenated_at(section: &Section<'_>) -> Option<u64> {
    let end = section.header().fre_end();
    let aligned = end.next_multiple_of(8);
    [end, aligned].into_iter().find(|&offset| preamble_at(section, offset))
}

pub(super) static FUNCTION_TABLE_OUTSIDE: Rule = Rule {
    name: "function-table-outside",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the function table ends inside the section",
    consequence: "A reader that trusts the count reads behind the section; libsframe computes the \
                  table's size in 32 bits, allocates too little, and crashes.",
    remedy: "Correct sfh_num_fdes or sfh_fdeoff.",
    source: "V3 2.2; observed: readelf 2.47 crashes or runs out of memory",
    example: "a section of 1 function whose header says 4,294,967,295",
    check: Check::Layout(|section, report| {
        let Some(header) = header(section) else { return };
        let (start, end) = (header.fde_table_start(), header.fde_table_end());
        if start > section.size() {
            report.field(
                field::FDEOFF,
                format_args!("{:#x}", header.fdeoff),
                format_args!("at most {:#x}", section.size() - header.size()),
                format_args!(
                    "the function table starts at {start:#x}, behind the section's end {:#x}",
                    section.size()
                ),
            );
        } else if end > section.size() {
            let room = (section.size() - start) / header.version.entry_size();
            report.field(
                field::NUM_FDES,
                header.num_fdes,
                format_args!("at most {room}"),
                format_args!(
                    "the function table ends at {end:#x}, behind the section's end {:#x}",
                    section.size()
                ),
            );
        }
    }),
};

pub(super) static ROWS_OUTSIDE: Rule = Rule {
    name: "rows-outside",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the FRE sub-section ends inside the section",
    consequence: "A reader that trusts the length reads behind the section; readelf may crash.",
    remedy: "Correct sfh_freoff or sfh_fre_len.",
    source: "V3 2.2; observed: readelf 2.47",
    example: "a section whose sfh_fre_len is 1 too large",
    check: Check::Layout(|section, report| {
        let Some(header) = header(section) else { return };
        let (start, end) = (header.fre_start(), header.fre_end());
        // A table that is cut off is the cause: the rows follow it.
        if header.fde_table_end() > section.size() {
            return;
        }
        if start > section.size() {
            report.field(
                field::FREOFF,
                format_args!("{:#x}", header.freoff),
                format_args!("at most {:#x}", section.size() - header.size()),
                format_args!(
                    "the FRE sub-section starts at {start:#x}, behind the section's end {:#x}",
                    section.size()
                ),
            );
        } else if end > section.size() {
            report.field(
                field::FRE_LEN,
                format_args!("{:#x}", header.fre_len),
                format_args!("at most {:#x}", section.size() - start),
                format_args!(
                    "the FRE sub-section ends at {end:#x}, behind the section's end {:#x}",
                    section.size()
                ),
            );
        }
    }),
};

pub(super) static SUBSECTION_OVERLAP: Rule = Rule {
    name: "subsection-overlap",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the function table ends where the FRE sub-section starts, or before",
    consequence: "The same bytes are read as functions and as rows; the kernel refuses the \
                  section, libsframe accepts it and then aborts.",
    remedy: "Correct sfh_fdeoff, sfh_num_fdes or sfh_freoff.",
    source: "V3 2.2 (\"tile the SFrame section\"); observed: readelf 2.47, the kernel's patches",
    example: "a section of 2 functions whose sfh_freoff is one entry too small",
    check: Check::Layout(|section, report| {
        let Some(header) = header(section) else { return };
        let (table_end, start) = (header.fde_table_end(), header.fre_start());
        // Where one of them is outside the section, that is the cause.
        let inside = table_end <= section.size() && header.fre_end() <= section.size();
        if inside && table_end > start && version_by_entries(section.section).is_none() {
            report.field(
                field::FREOFF,
                format_args!("{:#x}", header.freoff),
                format_args!("at least {:#x}", table_end - header.size()),
                format_args!(
                    "the FRE sub-section starts at {start:#x}, before the function table ends at \
                     {table_end:#x}"
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_TABLE_OFFSET: Rule = Rule {
    name: "function-table-offset",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the function table follows the header: sfh_fdeoff is 0",
    consequence: "libsframe leaves the offset out of PC-relative start addresses, and glibc and \
                  binutils up to 2.44 ignore it: they read other bytes as functions.",
    remedy: "Write the table directly behind the header.",
    source: "observed: libsframe 2.44 and 2.47, glibc 2.43; every producer writes 0",
    example: "a section with 4 bytes between header and function table",
    check: Check::Section(|section, report| {
        let Some(header) = header(section) else { return };
        if header.fdeoff != 0 && header.fde_table_end() <= section.size() {
            report.field(
                field::FDEOFF,
                format_args!("{:#x}", header.fdeoff),
                "0",
                format_args!("the function table starts {} bytes behind the header", header.fdeoff),
            );
        }
    }),
};

/// The version whose entries would fill the room between the table's start and the rows exactly,
/// where those of the header's own version do not, and make no sense. Two entries at least: one
/// says too little.
fn version_by_entries(section: &Section<'_>) -> Option<Version> {
    let header = section.header();
    let room = header.fre_start().checked_sub(header.fde_table_start())?;
    let count = u64::from(header.num_fdes);
    let fills = |version: &Version| count > 1 && count * version.entry_size() == room;
    let version = Version::ALL.into_iter().find(fills)?;
    (version != header.version && !has_all_rows(section)).then_some(version)
}

/// Whether the entries, read as the header says, lead to as many rows as it counts.
fn has_all_rows(section: &Section<'_>) -> bool {
    let mut budget = section.row_budget();
    let mut rows = 0;
    for function in section.functions() {
        let Some(entries) = function.ok().and_then(|f| f.frame_row_entries().ok()) else {
            return false;
        };
        for row in entries {
            if !row.is_ok_and(|row| budget.charge(&row).is_ok()) {
                return false;
            }
            rows += 1;
        }
    }
    rows == section.header().num_fres
}

pub(super) static VERSION_ENTRY_SIZE: Rule = Rule {
    name: "version-entry-size",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the function table has the entries of the version that the header names",
    consequence: "Every entry but the first is read from a wrong place, and every row.",
    remedy: "Correct sfp_version.",
    source: "V1 1.3, V2 2.3, V3 2.3.1: entries of 17, 20 and 16 bytes",
    example: "a version 2 section of 2 functions whose header says version 3",
    check: Check::Layout(|section, report| {
        let Some(header) = header(section) else { return };
        let Some(version) = version_by_entries(section.section) else { return };
        report.field(
            field::VERSION,
            header.version.number(),
            version.number(),
            format_args!(
                "the header says version {}, but {} entries of version {} fill the room before \
                 the rows exactly",
                header.version.number(),
                header.num_fdes,
                version.number()
            ),
        );
    }),
};

pub(super) static SUBSECTION_GAP: Rule = Rule {
    name: "subsection-gap",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the FRE sub-section starts where the function table ends",
    consequence: "glibc and binutils up to 2.44 read rows directly behind the table, whatever \
                  sfh_freoff says.",
    remedy: "Write the rows directly behind the function table.",
    source: "V3 2.2 (\"tile the SFrame section\"); observed: libsframe 2.44, glibc 2.43",
    example: "a section with 4 bytes between function table and rows",
    check: Check::Section(|section, report| {
        let Some(header) = header(section) else { return };
        let (table_end, start) = (header.fde_table_end(), header.fre_start());
        let gap = table_end < start && header.fre_end() <= section.size();
        if gap && version_by_entries(section.section).is_none() {
            report.field(
                field::FREOFF,
                format_args!("{:#x}", header.freoff),
                format_args!("{:#x}", table_end - header.size()),
                format_args!(
                    "{} bytes lie between the function table and the FRE sub-section",
                    start - table_end
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_TABLE_ALIGNMENT: Rule = Rule {
    name: "function-table-alignment",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    summary: "the function table of version 2 is aligned to 4 bytes in the section",
    consequence: "Readers that load its fields as aligned 32-bit words fault or are slow.",
    remedy: "Choose an auxiliary header and an sfh_fdeoff that are multiples of 4.",
    source: "V2 2.3 (\"naturally aligned\")",
    example: "a version 2 section with an auxiliary header of 2 bytes",
    check: Check::Section(|section, report| {
        let Some(header) = header(section) else { return };
        let start = header.fde_table_start();
        if header.fde_table_end() <= section.size() && !start.is_multiple_of(4) {
            report.field(
                field::FDEOFF,
                format_args!("{:#x}", header.fdeoff),
                "a start that is a multiple of 4",
                format_args!("the function table starts at {start:#x}, no multiple of 4"),
            );
        }
    }),
};

/// The bytes behind the FRE sub-section, where the parts before them are tiled and no other
/// section's start.
fn trailing(section: &SectionContext<'_>) -> Option<core::ops::Range<u64>> {
    let header = section.header();
    let end = header.fre_end();
    // Where rows and functions overlap, the rows' end is in doubt as well.
    let tiled = header.fde_table_end() <= header.fre_start();
    let trails = tiled && end < section.size() && concatenated_at(section.section).is_none();
    trails.then(|| end..section.size())
}

/// Whether the bytes are zero and fill the section up to the next multiple of 8.
fn is_padding(section: &SectionContext<'_>, trailing: &core::ops::Range<u64>) -> bool {
    let bytes =
        usize::try_from(trailing.start).ok().and_then(|at| section.section.data().get(at..));
    let zero = bytes.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    zero && trailing.end == trailing.start.next_multiple_of(8)
}

pub(super) static TRAILING_BYTES: Rule = Rule {
    name: "trailing-bytes",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section ends where the FRE sub-section ends, padding apart",
    consequence: "libsframe refuses such a section in the other byte order, up to 2.44 any, since \
                  2.46 one whose trailing bytes are not zero; other readers ignore them.",
    remedy: "Cut the section, or find out what appended the bytes.",
    source: "V3 2.2; observed: libsframe 2.44 and 2.47",
    example: "a section followed by 8 bytes 0xff",
    check: Check::Section(|section, report| {
        let Some(bytes) = trailing(section).filter(|bytes| !is_padding(section, bytes)) else {
            return;
        };
        report.bytes(
            bytes.clone(),
            format_args!(
                "{} bytes follow the FRE sub-section, which ends at {:#x}",
                bytes.end - bytes.start,
                bytes.start
            ),
        );
    }),
};

pub(super) static SECTION_PADDING: Rule = Rule {
    name: "section-padding",
    group: Group::Tiling,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section is not padded to its alignment",
    consequence: "None for readers that go by the header; libsframe up to 2.44 refuses a padded \
                  section in the other byte order.",
    remedy: "None needed.",
    source: "V3 2.2; observed: GNU as 2.47 pads for s390x, and for no other machine",
    example: "a section of 78 bytes followed by 2 bytes of zero",
    check: Check::Section(|section, report| {
        let Some(bytes) = trailing(section).filter(|bytes| is_padding(section, bytes)) else {
            return;
        };
        report.bytes(
            bytes.clone(),
            format_args!(
                "{} bytes of padding follow the FRE sub-section, which ends at {:#x}",
                bytes.end - bytes.start,
                bytes.start
            ),
        );
    }),
};

pub(super) static CONCATENATED_SECTION: Rule = Rule {
    name: "concatenated-section",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "one section does not follow another in the same bytes",
    consequence: "Readers see the functions of the first input alone; all others have lost their \
                  stack-trace data, and the start fields of what follows count from wrong places.",
    remedy: "Link with a linker that merges SFrame sections: GNU ld or mold.",
    source: "observed: lld 23 and gold append input sections as they are",
    example: "a shared object in which one section's bytes follow another's",
    check: Check::Layout(|section, report| {
        let Some(at) = concatenated_at(section.section) else { return };
        report.bytes(
            at..at + PREAMBLE_SIZE,
            format_args!(
                "another SFrame section starts at {at:#x}, behind the content of this one: a \
                 linker has appended its inputs' sections instead of merging them"
            ),
        );
    }),
};
