//! What changed in who describes the functions of a file.

use schemars::JsonSchema;
use serde::Serialize;

/// What became of a file's coverage.
///
/// Records tell how many functions are described and how many are not, and name the first few that
/// are not. A function is known to have lost its entry only where fewer are described and more are
/// not: more functions of both kinds may be new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageVerdict {
    /// Fewer functions are described, and more are not.
    Lost,
    /// More functions are not described, and no fewer are: whether these had an entry is not known.
    MoreUndescribed,
    /// As many are not described, others or for other causes.
    Other,
    /// Fewer functions are not described, and no more are: whether they have an entry now is not
    /// known.
    FewerUndescribed,
    /// More functions are described, and fewer are not.
    Gained,
}

/// What changed in a file's coverage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageChange {
    /// What became of it.
    pub verdict: CoverageVerdict,
    /// The old scan.
    pub old: Described,
    /// The new scan.
    pub new: Described,
    /// Causes for which not as many functions are left out as before.
    pub causes: Vec<CauseChange>,
    /// Functions of one scan's examples alone, or under another cause.
    pub functions: Vec<UndescribedFunction>,
}

/// How much is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Described {
    /// Functions that SFrame and CFI describe.
    pub functions: u64,
    /// Functions that CFI describes, and SFrame does not, or not wholly.
    pub undescribed: u64,
    /// Bytes of code.
    pub code_bytes: u64,
    /// Those that SFrame describes.
    pub described_bytes: u64,
}

impl Described {
    /// Takes `other` in.
    pub(crate) fn add(&mut self, other: &Described) {
        self.functions = self.functions.saturating_add(other.functions);
        self.undescribed = self.undescribed.saturating_add(other.undescribed);
        self.code_bytes = self.code_bytes.saturating_add(other.code_bytes);
        self.described_bytes = self.described_bytes.saturating_add(other.described_bytes);
    }
}

/// A cause for which functions are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CauseChange {
    /// The cause's name; `none` where nothing in the CFI explains it.
    pub cause: String,
    /// Functions in the old scan.
    pub old: u64,
    /// Functions in the new one.
    pub new: u64,
}

/// A function without an entry, in one of the scans or for another cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UndescribedFunction {
    /// Its symbol.
    pub symbol: String,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// Why it had none in the old scan, where that names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Why it has none in the new scan, where that names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// The other scan names all its functions without an entry, so that this one either had one or
    /// was not there. Otherwise it may be among those that are not named.
    pub known: bool,
}

/// The coverage of a package: the sums over its files of both scans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackageChange {
    /// The package's name, or the path of its file without versions.
    pub package: String,
    /// What became of it.
    pub verdict: CoverageVerdict,
    /// How many of its files' coverage changed.
    pub files: u64,
    /// The old scan.
    pub old: Described,
    /// The new scan.
    pub new: Described,
}
