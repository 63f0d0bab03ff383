//! Names for addresses: the function symbols of a file, ordered by place.

mod code_names;

pub use code_names::{CodeNames, NamedCode};

use alloc::vec::Vec;

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::{Class, Elf, ElfError, ElfKind, Names, SHT_DYNSYM, SHT_SYMTAB};
use crate::text::Text;
use crate::unwind::CodeAddress;

/// The tables that list all symbols, unless some were removed.
const COMPLETE: &[u32] = &[SHT_SYMTAB];
/// The tables of symbols, by preference.
const ANY: &[u32] = &[SHT_SYMTAB, SHT_DYNSYM];
const STT_NOTYPE: u8 = 0;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;

/// A symbol of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Where the function starts.
    pub start: CodeAddress,
    /// `st_size`: bytes of code, or 0 if the producer did not record it.
    pub size: u64,
    /// The name's bytes.
    pub name: Text<'a>,
    /// Whether the symbol is not `STB_LOCAL`.
    pub global: bool,
}

/// The function symbols of a file, ordered by place.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable<'a> {
    symbols: Vec<Symbol<'a>>,
}

impl<'a> SymbolTable<'a> {
    /// Reads `.symtab`, or `.dynsym` in a stripped file.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn load(file: &Elf<'a>) -> Result<SymbolTable<'a>, ElfError> {
        let wants = |kind, _| kind == STT_FUNC || kind == STT_GNU_IFUNC;
        let mut symbols: Vec<_> =
            read_any(file, ANY, wants)?.into_iter().map(|found| found.symbol).collect();
        // Among symbols at one place, a global symbol with a size is the best name.
        symbols.sort_by_key(|s| (s.start, !s.global, core::cmp::Reverse(s.size)));
        Ok(SymbolTable { symbols })
    }

    /// Reads the labels of code instead: the untyped symbols in executable sections, which assembly has.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn load_labels(file: &Elf<'a>) -> Result<SymbolTable<'a>, ElfError> {
        let is_code =
            |index| file.section(index).is_some_and(crate::elf::ElfSection::is_executable);
        let wants = |kind, defined_in| kind == STT_NOTYPE && is_code(defined_in);
        let mut symbols: Vec<_> =
            read_any(file, ANY, wants)?.into_iter().map(|found| found.symbol).collect();
        symbols.sort_by_key(|symbol| symbol.start);
        Ok(SymbolTable { symbols })
    }

    /// The symbols, ordered by place.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol<'a>] {
        &self.symbols
    }

    /// The symbol that starts exactly at `place`. Otherwise, among the symbols with the nearest start before it, the
    /// best one whose size reaches it.
    #[must_use]
    pub fn find(&self, place: CodeAddress) -> Option<&Symbol<'a>> {
        let first = self.symbols.partition_point(|symbol| symbol.start < place);
        if let Some(symbol) = self.symbols.get(first).filter(|symbol| symbol.start == place) {
            return Some(symbol);
        }
        let before = self.symbols.get(first.checked_sub(1)?)?;
        let distance = place.address.checked_sub(before.start.address)?;
        if before.start.section != place.section {
            return None;
        }
        // The symbols at that start are sorted: global ones first, then local ones, each by descending size. If the
        // first of either kind does not reach the place, the others of that kind do not either.
        let best = self.symbols.partition_point(|symbol| symbol.start < before.start);
        let here = self.symbols.get(best..first)?;
        let (global, local) = here.split_at(here.partition_point(|symbol| symbol.global));
        let mut longest = global.first().into_iter().chain(local.first());
        longest.find(|symbol| distance < symbol.size)
    }
}

/// The places of untyped symbols that are defined in a section, in order: offsets in a relocatable object, else addresses.
///
/// # Errors
/// [`ElfError::Malformed`].
pub(super) fn labels(file: &Elf<'_>, section: u32) -> Result<Vec<u64>, ElfError> {
    let wants = |kind, defined_in| kind == STT_NOTYPE && defined_in == section;
    let found = read_any(file, ANY, wants)?;
    let mut places: Vec<u64> = found.iter().map(|found| found.symbol.start.address).collect();
    places.sort_unstable();
    Ok(places)
}

/// A symbol that is defined in a section.
#[derive(Clone, Copy)]
struct TypedSymbol<'a> {
    /// Its type, such as [`STT_FUNC`].
    kind: u8,
    /// The index of the section.
    defined_in: u32,
    symbol: Symbol<'a>,
}

/// The symbols in the first of `tables` that the file has, as far as they are defined in a section and `wants` accepts the
/// type and the section.
fn read_any<'a>(
    file: &Elf<'a>,
    tables: &[u32],
    wants: impl Fn(u8, u32) -> bool,
) -> Result<Vec<TypedSymbol<'a>>, ElfError> {
    match file.class {
        Class::Elf32 => read::<elf::FileHeader32<Endianness>>(file, tables, &wants),
        Class::Elf64 => read::<elf::FileHeader64<Endianness>>(file, tables, &wants),
    }
}

fn read<'a, Header>(
    file: &Elf<'a>,
    tables: &[u32],
    wants: &dyn Fn(u8, u32) -> bool,
) -> Result<Vec<TypedSymbol<'a>>, ElfError>
where
    Header: FileHeader<Endian = Endianness>,
{
    let header = Header::parse(file.data)?;
    let order = header.endian()?;
    let sections = file.headers.table(header, order, file.data)?;
    let table_of =
        |kind: &u32| sections.enumerate().find(|(_, section)| section.sh_type(order).0 == *kind);
    let Some((index, section)) = tables.iter().find_map(table_of) else {
        return Ok(Vec::new());
    };
    let Some(table) = section.symbols(order, file.data, &sections, index)? else {
        return Ok(Vec::new());
    };
    let strings = sections.section(section.link(order)).and_then(|s| s.data(order, file.data));
    let names = Names { bytes: strings.unwrap_or_default() };
    let relocatable = file.kind == ElfKind::Relocatable;
    let mut symbols = Vec::new();
    for (index, symbol) in table.enumerate() {
        let kind = symbol.st_type().0;
        if !matches!(kind, STT_NOTYPE | STT_OBJECT | STT_FUNC | STT_GNU_IFUNC) {
            continue;
        }
        let Some(defined_in) = table.symbol_section(order, symbol, index)? else { continue };
        let defined_in = u32::try_from(defined_in.0).unwrap_or(0);
        if !wants(kind, defined_in) {
            continue;
        }
        let section = if relocatable { defined_in } else { 0 };
        let symbol = Symbol {
            start: CodeAddress { section, address: symbol.st_value(order).into() },
            size: symbol.st_size(order).into(),
            name: names.get(symbol.st_name(order)),
            global: !symbol.is_local(),
        };
        symbols.push(TypedSymbol { kind, defined_in, symbol });
    }
    Ok(symbols)
}
