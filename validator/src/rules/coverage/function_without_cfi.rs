use alloc::vec::Vec;

use crate::abi::Endian;
use crate::elf::Elf;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::{FileKind, TotalContext};

pub(super) static RULE: Rule = Rule {
    name: "function-without-cfi",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function starts where .eh_frame_hdr lists a function",
        consequence: "The entry was not made from CFI of this file, or its start is wrong. \
                      Debuggers see another function there, or none.",
        remedy: "Compare with the file's .eh_frame.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: assemblers make entries from CFI alone",
        example: "a shared object whose .eh_frame_hdr has the first of two functions",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let linked = total.whole.kind == FileKind::Linked;
    let Some(facts) = total.facts.filter(|_| linked) else { return };
    let known = facts.cfi_starts.get_or_init(|| starts(facts.elf));
    let Some(starts) = known else { return };
    for extent in total.extents.code.iter().filter(|extent| extent.size > 0) {
        let Some(entry) = total.whole.section.entry(extent.index) else { continue };
        // In a stub section, CFI describes the first entry, and all others together.
        let stub = facts.in_stubs(extent.start, extent.size);
        if !stub && starts.binary_search(&extent.start.address).is_err() {
            report.about(extent.function()).field(
                entry.field(FunctionField::Start),
                format_args!("{:#x}", extent.start.address),
                "the start of a function in .eh_frame_hdr",
                format_args!(
                    "function #{} starts at {:#x}, where .eh_frame_hdr lists no function",
                    extent.index, extent.start.address
                ),
            );
        }
    }
}

/// The encodings that linkers write: `DW_EH_PE_pcrel | sdata4`, `DW_EH_PE_udata4`, `DW_EH_PE_datarel | sdata4`.
const ENCODINGS: [u8; 3] = [0x1b, 0x03, 0x3b];
/// The number of bytes before the table: version, encodings, pointer to `.eh_frame`, number of entries.
const HEADER: usize = 12;
/// The size of an entry in bytes: the function's start, and the place of its FDE.
const ENTRY: usize = 8;

/// The starts of all functions in the table, in ascending order. `None` if the file has no such table, or its encoding
/// is not the one that linkers use.
fn starts(elf: &Elf<'_>) -> Option<Vec<u64>> {
    let section = elf.sections().iter().find(|section| section.name == b".eh_frame_hdr")?;
    let data = elf.section_data(section).ok()?;
    let word = |bytes: &[u8]| {
        let bytes = *bytes.first_chunk::<4>()?;
        Some(match elf.endian() {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    };
    (data.get(..4)? == [&[1], ENCODINGS.as_slice()].concat()).then_some(())?;
    let count = usize::try_from(word(data.get(8..)?)?).ok()?;
    let table = data.get(HEADER..)?.get(..count.checked_mul(ENTRY)?)?;
    let start = |entry: &[u8]| {
        let offset = i64::from(word(entry)?.cast_signed());
        Some(section.address.wrapping_add(offset.cast_unsigned()))
    };
    let mut starts: Vec<u64> = table.chunks_exact(ENTRY).filter_map(start).collect();
    starts.sort_unstable();
    Some(starts)
}
