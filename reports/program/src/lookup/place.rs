//! Places in code as people write them.

use core::fmt;
use std::str::FromStr;

use sframe_validator::elf::{Elf, ElfKind, SymbolTable};
use sframe_validator::unwind::CodeAddress;

use sframe_record::text::printable;

/// A place as written on the command line: `0x1234`, `SYMBOL`, `SYMBOL+0x10`, or `SECTION+0x10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceName {
    /// An address or, in a relocatable object with a single code section, an offset in it.
    Address(u64),
    /// An offset in bytes from a symbol or a section.
    Relative {
        /// The name of the symbol or section.
        name: String,
        /// The offset in bytes.
        offset: u64,
    },
}

impl FromStr for PlaceName {
    type Err = String;

    /// Parses a place.
    ///
    /// # Errors
    /// The reason, for people.
    fn from_str(text: &str) -> Result<PlaceName, String> {
        let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        if is_number(text) {
            return hexadecimal(text).map(PlaceName::Address);
        }
        match text.rsplit_once('+') {
            Some((name, offset)) if !name.is_empty() && is_number(offset) => {
                Ok(PlaceName::Relative { name: name.to_owned(), offset: hexadecimal(offset)? })
            }
            _ if text.is_empty() => Err("write an address or a symbol".to_owned()),
            _ => Ok(PlaceName::Relative { name: text.to_owned(), offset: 0 }),
        }
    }
}

/// Parses an address with `0x`. Digits without it are refused, because tools print hexadecimal addresses like that.
///
/// # Errors
/// The reason, for people.
pub fn hexadecimal(text: &str) -> Result<u64, String> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map_err(|error| error.to_string()),
        None if u64::from_str_radix(text, 16).is_ok() => Err(format!("write 0x{text}")),
        None => Err("not a hexadecimal number".to_owned()),
    }
}

impl fmt::Display for PlaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceName::Address(address) => write!(f, "{address:#x}"),
            PlaceName::Relative { name, offset: 0 } => f.write_str(&printable(name.as_bytes())),
            PlaceName::Relative { name, offset } => {
                write!(f, "{}+{offset:#x}", printable(name.as_bytes()))
            }
        }
    }
}

/// The places in `elf` with these names, in their order. Symbols are those of `named_by`. If several symbols have a name,
/// it selects all of them.
///
/// # Errors
/// The reason, for people, why a place cannot be found.
pub(super) fn find(
    elf: &Elf<'_>,
    named_by: &Elf<'_>,
    names: &[PlaceName],
) -> Result<Vec<CodeAddress>, String> {
    let symbols = SymbolTable::load(named_by).unwrap_or_default();
    let mut found = Vec::new();
    for name in names {
        match name {
            PlaceName::Address(address) => found.push(at_address(elf, *address)?),
            PlaceName::Relative { name: wanted, offset } => {
                let starts = named(elf, &symbols, wanted);
                if starts.is_empty() {
                    let what = printable(wanted.as_bytes());
                    return Err(format!("{name}: no function symbol or section is named {what}"));
                }
                found.extend(starts.into_iter().map(|start| CodeAddress {
                    address: start.address.saturating_add(*offset),
                    ..start
                }));
            }
        }
    }
    Ok(found)
}

fn at_address(elf: &Elf<'_>, address: u64) -> Result<CodeAddress, String> {
    if elf.kind() != ElfKind::Relocatable {
        return Ok(CodeAddress::absolute(address));
    }
    let mut sections = elf.code_sections().filter(|section| section.size > 0);
    match (sections.next(), sections.next()) {
        (Some(only), None) => Ok(CodeAddress { section: only.index, address }),
        (Some(first), Some(_)) => Err(format!(
            "{address:#x}: the object has several sections of code; write {}+{address:#x}",
            first.name
        )),
        (None, _) => Err(format!("{address:#x}: the object has no code")),
    }
}

/// The starts of the functions with a name or, if there is none, of the section with that name.
fn named(elf: &Elf<'_>, symbols: &SymbolTable<'_>, name: &str) -> Vec<CodeAddress> {
    let named = symbols.symbols().iter().filter(|symbol| symbol.name.bytes() == name.as_bytes());
    let mut starts: Vec<CodeAddress> = named.map(|symbol| symbol.start).collect();
    starts.dedup();
    if starts.is_empty() {
        let section = elf.code_sections().find(|section| section.name.bytes() == name.as_bytes());
        let relocatable = elf.kind() == ElfKind::Relocatable;
        starts.extend(section.map(|section| match relocatable {
            true => CodeAddress { section: section.index, address: 0 },
            false => CodeAddress::absolute(section.address),
        }));
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::PlaceName;

    #[test]
    fn places() {
        let relative = |name: &str, offset| PlaceName::Relative { name: name.to_owned(), offset };
        assert_eq!("0x1f".parse(), Ok(PlaceName::Address(0x1f)));
        assert_eq!("main".parse(), Ok(relative("main", 0)));
        assert_eq!(".text+0x10".parse(), Ok(relative(".text", 16)));
        // The name of an operator in C++ contains a plus sign.
        assert_eq!("operator+".parse(), Ok(relative("operator+", 0)));
        assert_eq!("operator++0x4".parse(), Ok(relative("operator+", 4)));
    }

    #[test]
    fn numbers_must_say_that_they_are_hexadecimal() {
        for (text, reason) in [
            ("401136", "write 0x401136"),
            ("main+10", "write 0x10"),
            ("0x", "cannot parse integer from empty string"),
            ("1z", "not a hexadecimal number"),
            ("", "write an address or a symbol"),
        ] {
            assert_eq!(text.parse::<PlaceName>(), Err(reason.to_owned()), "{text}");
        }
    }
}
