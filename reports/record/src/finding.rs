//! A rule that is broken at a place, and the tables of rows where SFrame and CFI differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::severity::Severity;
use crate::value::{Address, Text};

/// A rule that is broken at a place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Bytes from the start of the section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Bytes from the start of the file, or of the member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_offset: Option<u64>,
    /// The field and its value.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<Field<'r>>>,
    /// The function.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Box<Function<'r>>>,
    /// The row's number in its function, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The code, where the finding is about less than a function, or about no function of the
    /// section.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Box<Code<'r>>>,
    /// The section's bytes around the defect, cut into fields.
    #[serde(borrow, default)]
    pub context: Vec<Part<'r>>,
    /// Both tables of rows, where SFrame and CFI differ.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference<'r>>>,
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

/// One field of the section's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Part<'r> {
    /// Bytes from the start of the section.
    pub offset: u64,
    /// The stored bytes in hexadecimal.
    #[serde(borrow)]
    pub bytes: Text<'r>,
    /// The field's name, empty for bytes that are no field.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// What the bytes say.
    #[serde(borrow)]
    pub value: Text<'r>,
    /// Whether the defect is here.
    pub blamed: bool,
}

/// A field that holds a value it must not hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Function<'r> {
    /// Its place in the table, from 0.
    #[serde(default)]
    pub index: u32,
    /// Where it starts: an address, or an offset in `code_section`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Address>,
    /// The section it is in, in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// Bytes of code.
    #[serde(default)]
    pub size: u32,
    /// The symbol at its start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<Text<'r>>,
    /// Bytes from the symbol's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// A range of code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Code<'r> {
    /// The first PC: an address, or an offset in `code_section`.
    pub start: Address,
    /// The first PC behind.
    pub end: Address,
    /// The section it is in, in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// The symbol of the code; where the finding has a `function`, the one at its start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<Text<'r>>,
    /// Bytes from the symbol's start, where the finding has no `function`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// What SFrame and CFI say around code at which they differ.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Difference<'r> {
    /// What differs: `cfa`, `ra`, `fp`, `ra-signing`, `undefined-ra`, `signal`.
    #[serde(borrow, default)]
    pub fields: Vec<Text<'r>>,
    /// Both tables of rows around the range, by PC.
    #[serde(borrow, default)]
    pub table: Vec<TableLine<'r>>,
    /// The tables are longer: lines after the last one were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The range's instructions; of a long range the first ones.
    #[serde(borrow, default)]
    pub instructions: Vec<Instruction<'r>>,
    /// Where the same pattern shows as well: the same fields, registers and distance. Absent where
    /// each range is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<Similar>,
    /// The function shows the same pattern before: counts have it once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

impl Difference<'_> {
    /// In how many other functions the same pattern shows, and is not listed.
    #[must_use]
    pub fn elsewhere(&self) -> u64 {
        self.similar.map_or(0, |similar| similar.functions)
    }
}

/// A row of one table or of both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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

/// Which of two tables has a line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Both of them.
    Both,
    /// SFrame's alone.
    Sframe,
    /// CFI's alone.
    Cfi,
    /// The first file's alone, where two files are compared.
    First,
    /// The second file's alone.
    Second,
}

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Similar {
    /// Other functions.
    pub functions: u64,
    /// Other ranges of PCs.
    pub ranges: u64,
    /// Bytes of these.
    pub bytes: u64,
}
