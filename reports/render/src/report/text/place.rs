//! The place of a finding: offsets, the function, the row, the code, and the source line.

use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{Code, Finding, Function, Record, SymbolNames, Text as Name};

/// `.sframe+0x20 (file offset 0x2020), function 3 foo at 0x1000 (60 bytes), row 2`.
pub(super) fn of(record: &Record<'_>, finding: &Finding<'_>, names: SymbolNames) -> String {
    let mut parts = Vec::new();
    let section = finding.section.and_then(|position| record.sections.get(position));
    match (section, finding.offset) {
        (Some(section), Some(offset)) => {
            let in_file = section.file_offset.saturating_add(offset);
            parts.push(format!("{}+{offset:#x} (file offset {in_file:#x})", section.name));
        }
        (Some(section), None) => parts.push(section.name.to_string()),
        (None, _) => {}
    }
    if let Some(function) = &finding.function {
        parts.push(function_place(function, finding.elf_section.as_ref(), names));
    }
    if let Some(row) = finding.row {
        parts.push(format!("row {row}"));
    }
    if let Some(code) = &finding.code {
        parts.push(code_place(code, finding, names));
    }
    if let Some(source) = &finding.source {
        parts.push(format!("{}:{}", source.file, source.line));
    }
    parts.join(", ")
}

fn function_place(
    function: &Function<'_>,
    elf_section: Option<&Name<'_>>,
    names: SymbolNames,
) -> String {
    let mut text = format!("function {}", function.index);
    if let Some(symbol) = &function.symbol {
        text.push(' ');
        text.push_str(&symbol_place(symbol, function.symbol_offset, names));
    }
    if let Some(start) = function.start {
        let section = section_of(function.code_section.as_ref(), function.symbol.as_ref());
        text.push_str(&format!(" at {section}{start}"));
    }
    if let Some(section) =
        elf_section.filter(|name| is_unusual(name, function.code_section.as_ref()))
    {
        text.push_str(&format!(" in {section}"));
    }
    text.push_str(&format!(" ({})", counted(function.size.into(), "byte")));
    text
}

fn code_place(code: &Code<'_>, finding: &Finding<'_>, names: SymbolNames) -> String {
    let is_alone = finding.function.is_none();
    let symbol = match code.symbol.as_ref().filter(|_| is_alone) {
        Some(symbol) => format!(" in {}", symbol_place(symbol, code.symbol_offset, names)),
        None => String::new(),
    };
    let in_section = finding.elf_section.as_ref();
    let in_section =
        in_section.filter(|name| is_alone && is_unusual(name, code.code_section.as_ref()));
    let in_section = in_section.map(|name| format!(" in {name}")).unwrap_or_default();
    let section = section_of(code.code_section.as_ref(), code.symbol.as_ref());
    let bytes = counted(code.end.0.saturating_sub(code.start.0), "byte");
    format!("code {section}{}..{} ({bytes}){symbol}{in_section}", code.start, code.end)
}

/// Whether the name of the section of code is worth a word: it is not the usual one, and the place does not begin with it.
fn is_unusual(name: &Name<'_>, relative_to: Option<&Name<'_>>) -> bool {
    relative_to.is_none() && name.as_str() != ".text"
}

/// `foo+0x10`.
fn symbol_place(symbol: &Name<'_>, offset: Option<u64>, names: SymbolNames) -> String {
    let symbol = names.printed(symbol);
    match offset {
        None | Some(0) => symbol,
        Some(offset) => format!("{symbol}+{offset:#x}"),
    }
}

/// Section names that end with a longer symbol are not written in full: the symbol is in the line already.
const LONG: usize = 60;

/// `.text+` before an offset in a section of a relocatable object; `.text.…+` if a long symbol follows.
fn section_of(section: Option<&Name<'_>>, symbol: Option<&Name<'_>>) -> String {
    let Some(section) = section else { return String::new() };
    let symbol = symbol.filter(|symbol| symbol.as_str().len() > LONG);
    match symbol.and_then(|symbol| section.as_str().strip_suffix(symbol.as_str())) {
        Some(kind) if !kind.is_empty() => format!("{}…+", printable(kind)),
        _ => format!("{section}+"),
    }
}
