//! Places in code as people write them.

use core::fmt;
use std::str::FromStr;

use sframe_validator::elf::{Elf, ElfKind, SymbolTable};
use sframe_validator::unwind::CodeAddress;

use super::Outside;
use super::error::{NotFound, PlaceError};
use crate::function_name::source_name;
use sframe_record::Address;
use sframe_record::text::printable;

/// A place as written on the command line: `0x1234`, `SYMBOL`, `SYMBOL+0x10`, `SYMBOL+16`, or `SECTION+0x10`.
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
    type Err = PlaceError;

    /// Parses a place.
    ///
    /// # Errors
    /// Why it is not the name of a place.
    fn from_str(text: &str) -> Result<PlaceName, PlaceError> {
        let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        if is_number(text) {
            return hexadecimal(text).map(PlaceName::Address);
        }
        match text.rsplit_once('+') {
            Some((name, digits)) if !name.is_empty() && is_number(digits) => {
                let name = name.to_owned();
                Ok(PlaceName::Relative { offset: offset(&name, digits)?, name })
            }
            _ if text.is_empty() => Err(PlaceError::Empty),
            _ => Ok(PlaceName::Relative { name: text.to_owned(), offset: 0 }),
        }
    }
}

/// Parses an offset from `name`: decimal, as gdb prints it, or hexadecimal after `0x`, as objdump does.
fn offset(name: &str, digits: &str) -> Result<u64, PlaceError> {
    if digits.starts_with("0x") {
        return hexadecimal(digits);
    }
    let is_unmarked = || u64::from_str_radix(digits, 16).is_ok();
    digits.parse().map_err(|error| match is_unmarked() {
        true => PlaceError::UnmarkedOffset { name: name.to_owned(), digits: digits.to_owned() },
        false => PlaceError::Number(error),
    })
}

/// Parses an address with `0x`. Digits without it are refused, because tools print hexadecimal addresses like that.
///
/// # Errors
/// Why it is not such a number.
pub fn hexadecimal(text: &str) -> Result<u64, PlaceError> {
    match text.strip_prefix("0x") {
        Some(digits) => Ok(u64::from_str_radix(digits, 16)?),
        None if u64::from_str_radix(text, 16).is_ok() => Err(PlaceError::Unmarked(text.to_owned())),
        None => Err(PlaceError::NotHexadecimal),
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

/// A place that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) place: CodeAddress,
    /// The symbol or section that the person named, if the place is not in it.
    pub(super) outside: Option<Outside>,
}

/// The places in `elf` with these names, in their order, and why the others cannot be found. Symbols are those
/// of `named_by`. If several symbols have a name, it selects all of them.
pub(super) fn find(
    elf: &Elf<'_>,
    named_by: &Elf<'_>,
    names: &[PlaceName],
) -> (Vec<Found>, Vec<NotFound>) {
    let symbols = SymbolTable::load(named_by).unwrap_or_default();
    let labels = SymbolTable::load_labels(named_by).unwrap_or_default();
    let (mut found, mut not_found) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            PlaceName::Address(address) => match at_address(elf, *address) {
                Ok(place) => found.push(Found { place, outside: None }),
                Err(reason) => not_found.push(reason),
            },
            PlaceName::Relative { name: wanted, offset } => {
                let starts = named(elf, (&symbols, &labels), wanted);
                if starts.is_empty() {
                    let (place, name) = (name.to_string(), wanted.clone());
                    not_found.push(NotFound::NoName { place, name });
                }
                found.extend(starts.into_iter().map(|(start, size)| {
                    let address = start.address.saturating_add(*offset);
                    let place = CodeAddress { address, ..start };
                    let end = end([&symbols, &labels], (start, size), place);
                    let name = || wanted.clone().into();
                    let outside = end.map(|end| Outside { name: name(), end: Address(end) });
                    Found { place, outside }
                }));
            }
        }
    }
    (found, not_found)
}

/// The end of what starts at `start`, if `place` is not before it. Without a size, it ends where the next symbol starts.
fn end(
    tables: [&SymbolTable<'_>; 2],
    (start, size): (CodeAddress, u64),
    place: CodeAddress,
) -> Option<u64> {
    let next_in = |table: &SymbolTable<'_>| {
        let all = table.symbols();
        let next = all.get(all.partition_point(|symbol| symbol.start <= start))?;
        (next.start.section == start.section).then_some(next.start.address)
    };
    let end = match size {
        0 => tables.into_iter().filter_map(next_in).min()?,
        size => start.address.saturating_add(size),
    };
    (place.address >= end).then_some(end)
}

fn at_address(elf: &Elf<'_>, address: u64) -> Result<CodeAddress, NotFound> {
    if elf.kind() != ElfKind::Relocatable {
        return Ok(CodeAddress::absolute(address));
    }
    let mut sections = elf.code_sections().filter(|section| section.size > 0);
    match (sections.next(), sections.next()) {
        (Some(only), None) => Ok(CodeAddress { section: only.index, address }),
        (Some(first), Some(_)) => {
            Err(NotFound::Ambiguous { address, first: first.name.to_string() })
        }
        (None, _) => Err(NotFound::NoCode(address)),
    }
}

/// The starts and sizes of the functions with a name or, if there is none, of the section or of the labels with that name. A name may
/// have a version, as `memcpy@@GLIBC_2.14` does, and may be that of the source.
fn named(
    elf: &Elf<'_>,
    (symbols, labels): (&SymbolTable<'_>, &SymbolTable<'_>),
    name: &str,
) -> Vec<(CodeAddress, u64)> {
    let functions = |name: &str| starts(symbols, |symbol| symbol == name.as_bytes());
    let versioned = || match name.split_once('@') {
        Some((plain, _)) if !plain.is_empty() => functions(plain),
        _ => Vec::new(),
    };
    // Only mangled names have another form.
    let is_source = |symbol: &[u8]| symbol.starts_with(b"_") && source_name(symbol) == name;
    let found: [&dyn Fn() -> Vec<(CodeAddress, u64)>; 5] = [
        &|| functions(name),
        &|| section(elf, name).into_iter().collect(),
        &|| starts(labels, |symbol| symbol == name.as_bytes()),
        &versioned,
        &|| starts(symbols, is_source),
    ];
    let mut found = found.iter().map(|find| find());
    found.find(|starts| !starts.is_empty()).unwrap_or_default()
}

/// The starts and sizes of the symbols whose names `is_meant` accepts.
fn starts(symbols: &SymbolTable<'_>, is_meant: impl Fn(&[u8]) -> bool) -> Vec<(CodeAddress, u64)> {
    let named = symbols.symbols().iter().filter(|symbol| is_meant(symbol.name.bytes()));
    let mut starts: Vec<_> = named.map(|symbol| (symbol.start, symbol.size)).collect();
    starts.dedup_by_key(|(start, _)| *start);
    starts
}

/// The start and size of the section of code with a name. What only segments imply has no offsets that anyone knows.
fn section(elf: &Elf<'_>, name: &str) -> Option<(CodeAddress, u64)> {
    let mut listed = elf.code_sections().filter(|section| elf.is_listed(section));
    let section = listed.find(|section| section.name.bytes() == name.as_bytes())?;
    let start = match elf.kind() {
        ElfKind::Relocatable => CodeAddress { section: section.index, address: 0 },
        _ => CodeAddress::absolute(section.address),
    };
    Some((start, section.size))
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
        assert_eq!("main+10".parse(), Ok(relative("main", 10)));
        assert_eq!("main+0010".parse(), Ok(relative("main", 10)));
    }

    #[test]
    fn hexadecimal_numbers_need_a_prefix() {
        for (text, reason) in [
            ("401136", "write 0x401136"),
            ("main+1f", "write main+0x1f"),
            ("main+1z", "invalid digit found in string"),
            ("main+99999999999999999999", "number too large to fit in target type"),
            ("0x", "cannot parse integer from empty string"),
            ("1z", "not a hexadecimal number"),
            ("", "write an address or a symbol"),
        ] {
            let error = text.parse::<PlaceName>().map_err(|error| error.to_string());
            assert_eq!(error, Err(reason.to_owned()), "{text}");
        }
    }
}
