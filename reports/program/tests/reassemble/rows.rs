//! The rows of a linked file's `.eh_frame`, for all registers, as gimli evaluates them.

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, RegisterRule, RunTimeEndian, UnwindContext,
    UnwindExpression, UnwindSection, Vendor,
};
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags};

/// A function's size and its rows: the offset at which each starts, and its rules as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) size: u64,
    pub(crate) rows: Vec<(u64, String)>,
}

/// Functions by the number of their code section in the original file and their offset in it.
pub(crate) type Functions = BTreeMap<(usize, u64), Function>;

type Slice<'a> = gimli::EndianSlice<'a, RunTimeEndian>;

/// The code sections of an original file: number, address, size.
pub(crate) fn code_sections(file: &object::File<'_>) -> Vec<(usize, u64, u64)> {
    let executable = |section: &object::Section<'_, '_>| {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return false };
        sh_flags.0 & 0x6 == 0x6
    };
    let sections = file.sections().filter(executable);
    sections.map(|section| (section.index().0, section.address(), section.size())).collect()
}

/// The addresses of these sections in a rebuilt file, from the symbols that `reassemble` writes for them.
pub(crate) fn moved_sections(
    sections: &[(usize, u64, u64)],
    rebuilt: &object::File<'_>,
) -> Vec<(usize, u64, u64)> {
    let address = |number: usize| {
        let name = format!("sframe_check.section.{number}");
        rebuilt.symbols().find(|symbol| symbol.name() == Ok(&name)).map(|s| s.address())
    };
    let moved = |(number, _, size): &(usize, u64, u64)| Some((*number, address(*number)?, *size));
    sections.iter().filter_map(moved).collect()
}

/// The functions in `sections`, or `None` if gimli cannot read the file because of the augmentation characters `B` or
/// `G`.
pub(crate) fn functions(
    file: &object::File<'_>,
    sections: &[(usize, u64, u64)],
) -> Option<Functions> {
    let mut found = Functions::new();
    let Some(section) = file.section_by_name(".eh_frame") else { return Some(found) };
    let endian = match file.endianness() {
        Endianness::Little => RunTimeEndian::Little,
        Endianness::Big => RunTimeEndian::Big,
    };
    let mut eh_frame = EhFrame::new(section.data().ok()?, endian);
    if file.architecture() == Architecture::Aarch64 {
        eh_frame.set_vendor(Vendor::AArch64);
    }
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut context = UnwindContext::new();
    let mut entries = eh_frame.entries(&bases);
    while let Some(entry) = entries.next().ok()? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let fde = partial.parse(EhFrame::cie_from_offset).ok()?;
        let start = fde.initial_address();
        let place = sections.iter().find(|(_, at, size)| start >= *at && start < at + size);
        let Some((number, at, _)) = place else { continue };
        let mut rows = Vec::new();
        let mut table = fde.rows(&eh_frame, &bases, &mut context).ok()?;
        while let Some(row) = table.next_row().ok()? {
            if row.start_address() == row.end_address() {
                continue;
            }
            let cfa = match row.cfa() {
                CfaRule::RegisterAndOffset { register, offset } => {
                    format!("{}+{offset}", register.0)
                }
                CfaRule::Expression(expression) => bytes(&eh_frame, expression),
            };
            let mut rules: Vec<_> = row.registers().collect();
            rules.sort_by_key(|(register, _)| register.0);
            let rules = rules
                .iter()
                .map(|(register, rule)| format!(" {}={}", register.0, rule_text(&eh_frame, rule)));
            let text = format!("{cfa}{}", rules.collect::<String>());
            if rows.last().is_none_or(|(_, last)| *last != text) {
                rows.push((row.start_address() - start, text));
            }
        }
        let attributes =
            format!("{:?} {}", fde.cie().return_address_register(), fde.is_signal_trampoline());
        rows.insert(0, (0, attributes));
        found.insert((*number, start - at), Function { size: fde.len(), rows });
    }
    Some(found)
}

fn rule_text(section: &EhFrame<Slice<'_>>, rule: &RegisterRule<usize>) -> String {
    match rule {
        RegisterRule::Expression(expression) => format!("at {}", bytes(section, expression)),
        RegisterRule::ValExpression(expression) => format!("is {}", bytes(section, expression)),
        rule => format!("{rule:?}"),
    }
}

/// The bytes of an expression, for which gimli has only the location.
fn bytes(section: &EhFrame<Slice<'_>>, expression: &UnwindExpression<usize>) -> String {
    let expression = expression.get(section).expect("inside the section");
    format!("{:02x?}", expression.0.slice())
}
