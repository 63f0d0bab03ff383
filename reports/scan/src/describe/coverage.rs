//! The coverage in the record of a file.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sframe_oracle::account::{self, Account};
use sframe_oracle::compare::{FunctionCounts, Sums};
use sframe_oracle::witness::CodeRange;
use sframe_record::json::{exact_name, name};
use sframe_record::{
    Address, Coverage, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts, WithoutEntry,
};
use sframe_validator::unwind::CodeAddress;

use super::names::{Names, SymbolPlace};

/// The coverage of a file according to `account`. `debug_file` is the separate file that contains some of the CFI.
#[must_use]
pub fn coverage(
    account: &Account<'_>,
    names: &Names<'_, '_>,
    debug_file: Option<&Path>,
) -> Coverage<'static> {
    Coverage {
        bytes: verdicts(&account.sums),
        functions: functions(&account.functions),
        losses: account.losses.iter().map(|lost| loss(lost, names)).collect(),
        without_entry: account.without_entry.as_ref().map(|of| without_entry(of, names)),
        limits: account.limits.iter().map(limit).collect(),
        debug_file: debug_file.map(|path| name(path.as_os_str().as_bytes()).into()),
    }
}

/// The coverage of a file whose `code_bytes` are all undecided.
#[must_use]
pub fn undecided(code_bytes: u64) -> Coverage<'static> {
    let bytes = Verdicts { undecided: code_bytes, ..Verdicts::default() };
    Coverage { bytes, ..Coverage::default() }
}

fn verdicts(bytes: &Sums) -> Verdicts {
    Verdicts {
        equal: bytes.equal,
        limited: bytes.limited,
        different: bytes.different,
        only_cfi: bytes.only_cfi,
        only_sframe: bytes.only_sframe,
        neither: bytes.neither,
        undecided: bytes.undecided,
    }
}

fn functions(counts: &FunctionCounts) -> CoveredFunctions {
    CoveredFunctions {
        both: counts.both,
        partly: counts.partly,
        only_cfi: counts.only_cfi,
        only_sframe: counts.only_sframe,
    }
}

fn loss(loss: &account::Loss, names: &Names<'_, '_>) -> Loss<'static> {
    let place = |code: &CodeRange| place(code.start, code.bytes(), names);
    Loss {
        cause: loss.cause.name().into(),
        functions: loss.functions,
        bytes: loss.bytes,
        examples: loss.examples.iter().map(place).collect(),
    }
}

/// The maximum size in bytes of the names of functions that are listed: hostile names of many functions can overlap.
const NAMES: usize = 1 << 20;

fn without_entry(found: &account::WithoutEntry, names: &Names<'_, '_>) -> WithoutEntry<'static> {
    let mut room = NAMES;
    let largest = found.largest.iter().map_while(|code| {
        let symbol = names.nearest_symbol(code.start);
        let section = names.section(code.start);
        let lengths = [symbol.as_ref().map(|of| of.name.len()), section.as_ref().map(String::len)];
        room = lengths.into_iter().flatten().try_fold(room, usize::checked_sub)?;
        Some(place_of(code.start, code.bytes(), symbol.as_ref(), section))
    });
    let largest = largest.collect();
    WithoutEntry { functions: found.functions, bytes: found.bytes, largest }
}

fn limit(limit: &account::Limit) -> Limit<'static> {
    Limit {
        field: limit.field.names().next().unwrap_or_default().into(),
        functions: limit.functions,
        bytes: limit.bytes,
    }
}

pub(super) fn place(
    start: CodeAddress,
    size: u64,
    names: &Names<'_, '_>,
) -> FunctionPlace<'static> {
    place_of(start, size, names.symbol(start).as_ref(), names.section(start))
}

fn place_of(
    start: CodeAddress,
    size: u64,
    symbol: Option<&SymbolPlace>,
    section: Option<String>,
) -> FunctionPlace<'static> {
    FunctionPlace {
        file: None,
        start: Address(start.address),
        code_section: section.map(Into::into),
        size,
        symbol: symbol.map(|symbol| name(&symbol.name).into()),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)).map(Into::into),
        symbol_offset: symbol.map(|symbol| symbol.offset),
        source: None,
    }
}
