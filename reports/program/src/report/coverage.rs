//! What SFrame and CFI describe of a file's code, and why CFI alone describes some of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sframe_oracle::account::Account;
use sframe_oracle::compare::{FunctionCounts, Sums};
use sframe_oracle::coverage::Cause;
use sframe_oracle::witness::CodeRange;
use sframe_validator::section::CodeAddress;

use super::names::{Names, SymbolPlace};

/// The coverage of one file.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Whether the file has an SFrame section. Where it has none, the causes tell what would keep
    /// functions out of a version 3 section.
    pub with_section: bool,
    /// Bytes of code by verdict.
    pub bytes: Sums,
    /// Functions by who describes them.
    pub functions: FunctionCounts,
    /// Functions that CFI alone describes, by cause.
    pub losses: Vec<Loss>,
    /// What CFI says and the section's version cannot.
    pub limits: Vec<Limit>,
    /// The separate debug file that CFI was taken from as well.
    pub debug_file: Option<PathBuf>,
}

/// Functions that CFI alone describes for one cause.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The cause.
    pub cause: Cause,
    /// How many functions.
    pub functions: u64,
    /// Bytes of code.
    pub bytes: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// A function by place and symbol.
#[derive(Clone, Debug)]
pub struct Example {
    /// Where it starts.
    pub start: CodeAddress,
    /// The name of the code section that the start counts from, in relocatable objects.
    pub code_section: Option<String>,
    /// Bytes of code.
    pub size: u64,
    /// The symbol there.
    pub symbol: Option<SymbolPlace>,
}

/// Something that CFI says and the version cannot.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What: `signal` or `undefined-ra`.
    pub field: &'static str,
    /// In how many functions.
    pub functions: u64,
    /// In how many bytes of code.
    pub bytes: u64,
}

impl Coverage {
    /// The coverage that an account of the file tells.
    #[must_use]
    pub fn of(
        account: &Account<'_>,
        with_section: bool,
        names: &Names<'_, '_>,
        debug_file: Option<PathBuf>,
    ) -> Coverage {
        let example = |&code: &CodeRange| Example {
            start: code.start,
            code_section: names.section(code.start),
            size: code.bytes(),
            symbol: names.symbol(code.start),
        };
        Coverage {
            with_section,
            bytes: account.sums,
            functions: account.functions,
            losses: account
                .losses
                .iter()
                .map(|loss| Loss {
                    cause: loss.cause,
                    functions: loss.functions,
                    bytes: loss.bytes,
                    examples: loss.examples.iter().map(example).collect(),
                })
                .collect(),
            limits: account
                .limits
                .iter()
                .map(|limit| Limit {
                    field: limit.field.names().next().unwrap_or_default(),
                    functions: limit.functions,
                    bytes: limit.bytes,
                })
                .collect(),
            debug_file,
        }
    }
}

/// Functions and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Functions.
    pub functions: u64,
    /// Bytes of code.
    pub bytes: u64,
}

impl Extent {
    pub(super) fn add(&mut self, functions: u64, bytes: u64) {
        self.functions = self.functions.saturating_add(functions);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The coverage of many files.
#[derive(Clone, Debug, Default)]
pub struct CoverageTotals {
    /// Files with SFrame sections that were compared with CFI.
    pub compared: Files,
    /// Files without SFrame sections.
    pub without_section: Files,
}

/// The sum over files.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// How many.
    pub files: u64,
    /// Bytes of code by verdict.
    pub bytes: Sums,
    /// Functions by who describes them.
    pub functions: FunctionCounts,
    /// Functions that CFI alone describes, by cause.
    pub losses: BTreeMap<Cause, Extent>,
    /// What CFI says and the sections' versions cannot.
    pub limits: BTreeMap<&'static str, Extent>,
}

impl CoverageTotals {
    /// Adds one file.
    pub(super) fn add(&mut self, coverage: &Coverage) {
        let files =
            if coverage.with_section { &mut self.compared } else { &mut self.without_section };
        files.add(coverage);
    }
}

impl Files {
    fn add(&mut self, coverage: &Coverage) {
        self.files += 1;
        self.bytes += coverage.bytes;
        self.functions += coverage.functions;
        for loss in &coverage.losses {
            self.losses.entry(loss.cause).or_default().add(loss.functions, loss.bytes);
        }
        for limit in &coverage.limits {
            self.limits.entry(limit.field).or_default().add(limit.functions, limit.bytes);
        }
    }
}
