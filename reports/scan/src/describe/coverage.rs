//! The coverage in the record of a file.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sframe_oracle::account::{self, Account};
use sframe_oracle::compare::{FunctionCounts, Sums};
use sframe_oracle::witness::CodeRange;
use sframe_record::json::{exact_name, name};
use sframe_record::{Address, Coverage, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts};
use sframe_validator::unwind::CodeAddress;

use super::names::Names;

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
    let symbol = names.symbol(start);
    let symbol = symbol.as_ref();
    FunctionPlace {
        file: None,
        start: Address(start.address),
        code_section: names.section(start).map(Into::into),
        size,
        symbol: symbol.map(|symbol| name(&symbol.name).into()),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)).map(Into::into),
        symbol_offset: symbol.map(|symbol| symbol.offset),
    }
}
