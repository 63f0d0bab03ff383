//! Changes in how much of a file's code is described.

use serde::Serialize;

/// The overall change of a file's coverage.
///
/// Records contain the numbers of described and undescribed functions, and the names of the first few undescribed ones.
/// A function has certainly lost its entry only if fewer are described and more are not: if both numbers grow, there
/// may be new functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CoverageVerdict {
    /// Fewer functions are described, and more are not.
    Lost,
    /// More functions are undescribed, but no fewer are described: whether these had an entry is unknown.
    MoreUndescribed,
    /// The number of undescribed functions is the same, but the functions or the causes differ.
    Other,
    /// Fewer functions are undescribed, but no more are described: whether these have an entry now is unknown.
    FewerUndescribed,
    /// More functions are described, and fewer are not.
    Gained,
}

/// The change of a file's coverage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverageChange {
    /// The overall change.
    pub verdict: CoverageVerdict,
    /// The coverage in the old scan.
    pub old: Described,
    /// The coverage in the new scan.
    pub new: Described,
    /// Causes whose number of undescribed functions changed.
    pub causes: Vec<CauseChange>,
    /// Functions listed in only one scan, or with different causes.
    pub functions: Vec<UndescribedFunction>,
}

/// How much code is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Described {
    /// Functions that SFrame and CFI describe.
    pub functions: u64,
    /// Functions that CFI describes, and SFrame does not, or only partly.
    pub undescribed: u64,
    /// Bytes of code.
    pub code_bytes: u64,
    /// Bytes of code that SFrame describes.
    pub described_bytes: u64,
}

impl Described {
    /// Adds `other`.
    pub(crate) fn add(&mut self, other: &Described) {
        self.functions = self.functions.saturating_add(other.functions);
        self.undescribed = self.undescribed.saturating_add(other.undescribed);
        self.code_bytes = self.code_bytes.saturating_add(other.code_bytes);
        self.described_bytes = self.described_bytes.saturating_add(other.described_bytes);
    }
}

/// The change of the number of functions that are undescribed for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseChange {
    /// The name of the cause; `none` if nothing in the CFI explains the loss.
    pub cause: String,
    /// The number of functions in the old scan.
    pub old: u64,
    /// The number of functions in the new scan.
    pub new: u64,
}

/// A function that has no entry in one of the scans, or for a different cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndescribedFunction {
    /// Its symbol.
    pub symbol: String,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// Why it had no entry in the old scan, if that scan lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Why it has no entry in the new scan, if that scan lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Whether the other scan lists all its functions without an entry. Then this one had an entry there or did not
    /// exist; otherwise it may be among the unlisted ones.
    pub known: bool,
}

/// How much of a package's code has entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// Bytes of code in all its files.
    pub code_bytes: u64,
    /// Bytes of code that SFrame describes.
    pub described_bytes: u64,
    /// Bytes of code that could not be compared: SFrame may or may not describe them.
    pub undecided_bytes: u64,
}

impl Share {
    /// Whether the share is certainly smaller than it was in `old`, by at least one part in a thousand of the code: the
    /// smallest change that reports show.
    #[must_use]
    pub fn fell(&self, old: &Share) -> bool {
        let product = |a: u64, b: u64| u128::from(a).saturating_mul(u128::from(b));
        let most = self.described_bytes.saturating_add(self.undecided_bytes);
        let was = product(old.described_bytes, self.code_bytes);
        let is = product(most, old.code_bytes);
        let whole = product(old.code_bytes, self.code_bytes);
        whole > 0 && was.saturating_sub(is).saturating_mul(1000) >= whole
    }
}

/// The change of a package's coverage: the sums over the files that are in both scans, and the share of all files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackageChange {
    /// The package's name, or the path of its file without versions.
    pub package: String,
    /// The overall change.
    pub verdict: CoverageVerdict,
    /// The number of its files whose coverage changed.
    pub files: u64,
    /// The coverage in the old scan.
    pub old: Described,
    /// The coverage in the new scan.
    pub new: Described,
    /// The share of its code that has entries, in the old and the new scan: of all files, also those that are in only
    /// one scan. Absent if a scan does not know it of every file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<[Share; 2]>,
    /// Whether that share fell.
    pub share_fell: bool,
}
