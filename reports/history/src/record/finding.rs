//! A rule that is broken at a place, and the tables of rows where SFrame and CFI differ.

use serde::{Deserialize, Serialize};

use super::{Address, Text};

/// How bad it is to break a rule; the worst one is the least.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Breaks the specification, or makes a reader crash or lie.
    Error,
    /// Unusual, and may lose frames.
    Warning,
    /// Legal, and worth a look.
    Lint,
}

impl Severity {
    /// `error`, `warning` or `lint`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Lint => "lint",
        }
    }
}

impl Finding<'_> {
    /// How many findings of its rule it stands for: itself, and those of other functions that show
    /// the same; none, where its function is counted already.
    #[must_use]
    pub fn weight(&self) -> u64 {
        match &self.difference {
            Some(difference) if difference.repeats => 0,
            Some(difference) => difference.elsewhere().saturating_add(1),
            None => 1,
        }
    }
}

impl Difference<'_> {
    /// In how many other functions the same pattern shows, and is not listed.
    #[must_use]
    pub fn elsewhere(&self) -> u64 {
        self.similar.map_or(0, |similar| similar.functions)
    }
}

/// A rule that is broken at a place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Finding<'r> {
    /// The rule's name.
    #[serde(borrow)]
    pub rule: Text<'r>,
    /// How bad it is to break it.
    pub severity: Severity,
    /// What the rule is about.
    #[serde(borrow, default)]
    pub group: Text<'r>,
    /// The fact, then the rule.
    #[serde(borrow, default)]
    pub message: Text<'r>,
    /// Position in the file's `sections`.
    #[serde(default)]
    pub section: Option<usize>,
    /// Bytes from the start of the section.
    #[serde(default)]
    pub offset: Option<u64>,
    /// Bytes from the start of the file, or of the member.
    #[serde(default)]
    pub file_offset: Option<u64>,
    /// The field and its value.
    #[serde(borrow, default)]
    pub field: Option<Field<'r>>,
    /// The function.
    #[serde(borrow, default)]
    pub function: Option<Function<'r>>,
    /// The row's number in its function, from 0.
    #[serde(default)]
    pub row: Option<u32>,
    /// The code, where the finding is about less than a function, or about no function of the
    /// section.
    #[serde(borrow, default)]
    pub code: Option<Code<'r>>,
    /// Both tables of rows, where SFrame and CFI differ.
    #[serde(borrow, default)]
    pub difference: Option<Difference<'r>>,
}

/// A field that holds a value it must not hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Field<'r> {
    /// The specification's name.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// The value.
    #[serde(borrow, default)]
    pub value: Text<'r>,
    /// The values that would be right.
    #[serde(borrow, default)]
    pub allowed: Text<'r>,
}

/// The function a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Function<'r> {
    /// Its place in the table, from 0.
    #[serde(default)]
    pub index: u32,
    /// Where it starts: an address, or an offset in `code_section`.
    #[serde(default)]
    pub start: Option<Address>,
    /// The section it is in, in relocatable objects.
    #[serde(borrow, default)]
    pub code_section: Option<Text<'r>>,
    /// Bytes of code.
    #[serde(default)]
    pub size: u32,
    /// The symbol at its start.
    #[serde(borrow, default)]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default)]
    pub symbol_hex: Option<Text<'r>>,
    /// Bytes from the symbol's start.
    #[serde(default)]
    pub symbol_offset: Option<u64>,
}

/// A range of code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Code<'r> {
    /// The first PC: an address, or an offset in `code_section`.
    pub start: Address,
    /// The first PC behind.
    pub end: Address,
    /// The section it is in, in relocatable objects.
    #[serde(borrow, default)]
    pub code_section: Option<Text<'r>>,
    /// The symbol of the code; where the finding has a `function`, the one at its start.
    #[serde(borrow, default)]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default)]
    pub symbol_hex: Option<Text<'r>>,
}

/// What SFrame and CFI say around code at which they differ.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Difference<'r> {
    /// What differs: `cfa`, `ra`, `fp`, `ra-signing`, `undefined-ra`, `signal`.
    #[serde(borrow, default)]
    pub fields: Vec<Text<'r>>,
    /// Both tables of rows around the range, by PC.
    #[serde(borrow, default)]
    pub table: Vec<TableLine<'r>>,
    /// The range's instructions; of a long range the first ones.
    #[serde(borrow, default)]
    pub instructions: Vec<Instruction<'r>>,
    /// Where the same pattern shows as well: the same fields, registers and distance. Absent where
    /// each range is listed.
    #[serde(default)]
    pub similar: Option<Similar>,
    /// The function shows the same pattern before: counts have it once.
    #[serde(default)]
    pub repeats: bool,
}

/// A row of one table or of both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TableLine<'r> {
    /// Who says it.
    pub side: Side,
    /// The first PC.
    pub start: Address,
    /// The canonical frame address, such as `rsp+16`.
    #[serde(borrow, default)]
    pub cfa: Text<'r>,
    /// The return address, such as `*(CFA-8)`.
    #[serde(borrow, default)]
    pub ra: Text<'r>,
    /// The caller's frame pointer.
    #[serde(borrow, default)]
    pub fp: Text<'r>,
    /// The return address is signed.
    #[serde(default)]
    pub ra_signed: bool,
}

/// Who says a line of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Both of them.
    Both,
    /// SFrame alone.
    Sframe,
    /// CFI alone.
    Cfi,
}

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Instruction<'r> {
    /// Its address.
    #[serde(default)]
    pub address: Address,
    /// Its bytes in hexadecimal.
    #[serde(borrow, default)]
    pub bytes: Text<'r>,
    /// The instruction as an assembler takes it.
    #[serde(borrow, default)]
    pub text: Text<'r>,
}

/// Other places of the same pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Similar {
    /// Other functions.
    pub functions: u64,
    /// Other ranges of PCs.
    pub ranges: u64,
    /// Bytes of these.
    pub bytes: u64,
}
