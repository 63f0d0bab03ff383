//! Coverage, of one file and of many.

use schemars::JsonSchema;
use serde::Serialize;

/// What SFrame and CFI describe of a file's code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Coverage {
    /// Bytes of code by verdict; they add up to all of the file's code.
    pub bytes: Verdicts,
    /// Functions by who describes them.
    pub functions: CoveredFunctions,
    /// Functions that CFI alone describes, by cause. In a file without a section, what would keep
    /// them out of one of version 3.
    pub losses: Vec<Loss>,
    /// What CFI says and the section's version cannot.
    pub limits: Vec<Limit>,
    /// The separate debug file that CFI was taken from as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_file: Option<String>,
}

/// Bytes of code by verdict.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct Loss {
    /// The cause's name; `none` where nothing in the CFI explains it.
    pub cause: &'static str,
    /// How many functions.
    pub functions: u64,
    /// Bytes of code.
    pub bytes: u64,
    /// The first of them; none in sums over files.
    pub examples: Vec<FunctionPlace>,
}

/// A function by place and symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionPlace {
    /// Where it starts, `0x...`: an address, or an offset in `code_section`.
    pub start: String,
    /// The section it is in, in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<String>,
    /// Bytes of code.
    pub size: u64,
    /// The symbol at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// Bytes from the symbol's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
}

/// Something that CFI says and the section's version cannot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limit {
    /// `signal` or `undefined-ra`.
    pub field: &'static str,
    /// In how many functions.
    pub functions: u64,
    /// In how many bytes of code.
    pub bytes: u64,
}

/// The coverage of many files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CoverageTotal {
    /// How many files.
    pub files: u64,
    /// The sums over them.
    #[serde(flatten)]
    pub coverage: Coverage,
}
