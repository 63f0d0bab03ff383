//! Derives function names that every assembler accepts from arbitrary bytes in the file.

use std::collections::HashMap;

use sframe_validator::elf::SymbolTable;
use sframe_validator::unwind::CodeAddress;

use super::SECTION_SYMBOL;

/// The maximum length of a name taken from a file. Some C++ names have a thousand characters.
const MAX_LENGTH: usize = 4096;

/// The label at the start of a function.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) name: String,
    /// Whether the name is that of a function symbol. An entry of CFI without a symbol may describe a function, or a cold
    /// part of one.
    pub(super) is_function: bool,
}

/// Makes unique names.
#[derive(Debug)]
pub(super) struct Labels<'s, 'a> {
    symbols: &'s SymbolTable<'a>,
    /// The names in use, and the number last appended to each.
    used: HashMap<String, u64>,
    /// The number of bytes of names that may still be written. Symbols may share the bytes of their names, so a file
    /// can have far more bytes of names than its own size.
    room: usize,
}

impl<'s, 'a> Labels<'s, 'a> {
    pub(super) fn new(symbols: &'s SymbolTable<'a>, room: usize) -> Labels<'s, 'a> {
        Labels { symbols, used: HashMap::new(), room }
    }

    /// A label for the function at `start`, with the name of its symbol, or one made from the address.
    pub(super) fn of(&mut self, start: CodeAddress) -> Label {
        let symbols = self.symbols.symbols();
        // The best symbol for an address comes first; a linear search would visit all symbols before it.
        let first = symbols.partition_point(|symbol| symbol.start < start);
        let symbol = symbols.get(first).filter(|symbol| symbol.start == start);
        let name = symbol.map(|symbol| symbol.name.bytes()).filter(|name| !name.is_empty());
        let plain = name.and_then(|name| {
            self.room = self.room.checked_sub(name.len())?;
            (name.len() <= MAX_LENGTH).then(|| plain(name))
        });
        let is_function = plain.is_some();
        let name = plain.unwrap_or_else(|| match start.section {
            0 => format!("code_at_{:#x}", start.address),
            section => format!("code_at_{section}_{:#x}", start.address),
        });
        Label { name: self.unused(name), is_function }
    }

    /// `name`, with a number appended if it is in use already.
    fn unused(&mut self, name: String) -> String {
        let Some(mut number) = self.used.get(&name).copied() else {
            self.used.insert(name.clone(), 0);
            return name;
        };
        let numbered = loop {
            number += 1;
            let numbered = format!("{name}.{number}");
            if !self.used.contains_key(&numbered) {
                break numbered;
            }
        };
        self.used.insert(name, number);
        self.used.insert(numbered.clone(), 0);
        numbered
    }
}

/// Whether all assemblers accept the byte anywhere in a name.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

/// `name` with an underscore in place of each byte that is not a letter, digit, underscore, full stop or dollar sign,
/// and starting with a letter or underscore. Assemblers would interpret a version after `@`.
pub(super) fn plain(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len() + 1);
    let starts = name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    if !starts || name.starts_with(SECTION_SYMBOL.as_bytes()) {
        text.push('_');
    }
    text.extend(name.iter().map(|byte| if is_plain(*byte) { char::from(*byte) } else { '_' }));
    text
}

/// A name for a code section, as similar to its own as linkers allow.
pub(super) fn section_name(name: &[u8]) -> String {
    let known: [&[u8]; 6] = [b".init", b".fini", b".plt", b".plt.got", b".plt.sec", b".iplt"];
    let text = name.strip_prefix(b".text").is_some_and(|rest| matches!(rest, [] | [b'.', ..]));
    let tame = |byte: &u8| if is_plain(*byte) { char::from(*byte) } else { '_' };
    let short = name.get(..MAX_LENGTH).unwrap_or(name);
    let plain: String = short.iter().map(tame).collect();
    match known.contains(&name) || text {
        true => plain,
        false => format!(".text.{}", plain.trim_start_matches('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_plain() {
        assert_eq!(plain(b"_ZN3fooEv"), "_ZN3fooEv");
        assert_eq!(plain(b"memcpy@@GLIBC_2.14"), "memcpy__GLIBC_2.14");
        assert_eq!(plain(b"a\"\n.byte 1\n\xff"), "a__.byte_1__");
        assert_eq!(plain(b"1f"), "_1f");
        assert_eq!(plain(b".Lhidden"), "_.Lhidden");
        assert_eq!(plain(b"sframe_check.section.1"), "_sframe_check.section.1");
    }

    #[test]
    fn section_names_known_to_linkers_are_kept() {
        assert_eq!(section_name(b".text"), ".text");
        assert_eq!(section_name(b".text.unlikely"), ".text.unlikely");
        assert_eq!(section_name(b".plt.sec"), ".plt.sec");
        assert_eq!(section_name(b".eh_frame"), ".text.eh_frame");
        assert_eq!(section_name(b"text,\"x\"\n"), ".text.text__x__");
    }

    #[test]
    fn names_are_unique() {
        let symbols = SymbolTable::default();
        let mut labels = Labels::new(&symbols, 0);
        let names = ["a", "a.1", "a", "a", "a.1"].map(|name| labels.unused(name.to_owned()));
        assert_eq!(names, ["a", "a.1", "a.2", "a.3", "a.1.1"]);
    }
}
