//! What SFrame and CFI describe of a file's code.

use serde::Deserialize;

use super::{Address, Text};

/// What SFrame and CFI describe of a file's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Coverage<'r> {
    /// Bytes of code by verdict; they add up to all of the file's code.
    pub bytes: Verdicts,
    /// Functions by who describes them.
    pub functions: CoveredFunctions,
    /// Functions that CFI alone describes, by cause. In a file without a section, what would keep
    /// them out of one of version 3.
    #[serde(borrow)]
    pub losses: Vec<Loss<'r>>,
    /// What CFI says and the section's version cannot.
    #[serde(borrow)]
    pub limits: Vec<Limit<'r>>,
    /// The separate debug file that CFI was taken from as well.
    #[serde(borrow)]
    pub debug_file: Option<Text<'r>>,
}

/// Bytes of code by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Verdicts {
    /// SFrame and CFI say the same.
    pub equal: u64,
    /// They say the same as far as the section's version can.
    pub limited: u64,
    /// They differ.
    pub different: u64,
    /// CFI alone describes the code.
    pub only_cfi: u64,
    /// SFrame alone describes it.
    pub only_sframe: u64,
    /// Neither does.
    pub neither: u64,
    /// It could not be decided.
    pub undecided: u64,
}

/// Functions by who describes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CoveredFunctions {
    /// SFrame and CFI.
    pub both: u64,
    /// CFI describes the function, SFrame a part of it.
    pub partly: u64,
    /// CFI alone.
    pub only_cfi: u64,
    /// SFrame alone.
    pub only_sframe: u64,
}

/// Functions that SFrame does not describe.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Loss<'r> {
    /// The cause's name; `none` where nothing in the CFI explains it.
    #[serde(borrow)]
    pub cause: Text<'r>,
    /// How many functions.
    #[serde(default)]
    pub functions: u64,
    /// Bytes of code.
    #[serde(default)]
    pub bytes: u64,
    /// The first of them.
    #[serde(borrow, default)]
    pub examples: Vec<FunctionPlace<'r>>,
}

/// A function by place and symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FunctionPlace<'r> {
    /// Where it starts: an address, or an offset in `code_section`.
    pub start: Address,
    /// The section it is in, in relocatable objects.
    #[serde(borrow)]
    pub code_section: Option<Text<'r>>,
    /// Bytes of code.
    pub size: u64,
    /// The symbol at its start.
    #[serde(borrow)]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow)]
    pub symbol_hex: Option<Text<'r>>,
    /// Bytes from the symbol's start.
    pub symbol_offset: Option<u64>,
}

/// Something that CFI says and the section's version cannot.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Limit<'r> {
    /// `signal` or `undefined-ra`.
    #[serde(borrow)]
    pub field: Text<'r>,
    /// In how many functions.
    #[serde(default)]
    pub functions: u64,
    /// In how many bytes of code.
    #[serde(default)]
    pub bytes: u64,
}
