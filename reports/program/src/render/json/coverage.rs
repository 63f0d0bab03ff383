//! Coverage as JSON.

use std::os::unix::ffi::OsStrExt;

use sframe_oracle::compare::{FunctionCounts, Sums};

use super::super::schema::{
    Coverage, CoverageTotal, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts,
};
use crate::report::{self, Example, Files};
use sframe_record::json::{exact_name, name};

/// The coverage of one file.
pub(super) fn of_file(coverage: &report::Coverage) -> Coverage {
    Coverage {
        bytes: verdicts(&coverage.bytes),
        functions: functions(&coverage.functions),
        losses: coverage
            .losses
            .iter()
            .map(|loss| Loss {
                cause: loss.cause.name(),
                functions: loss.functions,
                bytes: loss.bytes,
                examples: loss.examples.iter().map(example).collect(),
            })
            .collect(),
        limits: coverage
            .limits
            .iter()
            .map(|l| Limit { field: l.field, functions: l.functions, bytes: l.bytes })
            .collect(),
        debug_file: coverage.debug_file.as_ref().map(|path| name(path.as_os_str().as_bytes())),
    }
}

/// The sums over many files, `None` where there are none.
pub(super) fn total(files: &Files) -> Option<CoverageTotal> {
    let losses = files.losses.iter().map(|(cause, extent)| Loss {
        cause: cause.name(),
        functions: extent.functions,
        bytes: extent.bytes,
        examples: Vec::new(),
    });
    let limits = files.limits.iter().map(|(field, extent)| Limit {
        field,
        functions: extent.functions,
        bytes: extent.bytes,
    });
    let coverage = Coverage {
        bytes: verdicts(&files.bytes),
        functions: functions(&files.functions),
        losses: losses.collect(),
        limits: limits.collect(),
        debug_file: None,
    };
    (files.files > 0).then_some(CoverageTotal { files: files.files, coverage })
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

fn example(example: &Example) -> FunctionPlace {
    let symbol = example.symbol.as_ref();
    FunctionPlace {
        start: format!("{:#x}", example.start.address),
        code_section: example.code_section.clone(),
        size: example.size,
        symbol: symbol.map(|symbol| name(&symbol.name)),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)),
        symbol_offset: symbol.map(|symbol| symbol.offset),
    }
}
