//! How much of a file's code SFrame and CFI describe.

use serde::{Deserialize, Serialize};
use sframe_oracle::coverage::Cause;

use crate::bounded::entry;
use crate::finding::SourceLine;
use crate::value::{Address, Text};

/// How much of a file's code SFrame and CFI describe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Coverage<'r> {
    /// Bytes of code by verdict; they add up to the size of the file's code.
    pub bytes: Verdicts,
    /// Functions by the section that describes them.
    pub functions: CoveredFunctions,
    /// Functions that only CFI describes, by cause. In a file without an SFrame section: the functions that version 3
    /// could not describe.
    #[serde(borrow)]
    pub losses: Vec<Loss<'r>>,
    /// Functions that neither SFrame nor CFI describes. Absent if they were not looked for: without `--coverage`, and in
    /// a file without an SFrame section whose symbols nobody needs.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub without_entry: Option<WithoutEntry<'r>>,
    /// Properties that the CFI states and the section's version cannot express.
    #[serde(borrow)]
    pub limits: Vec<Limit<'r>>,
    /// The separate debug file from which CFI was also read.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub debug_file: Option<Text<'r>>,
}

/// Bytes of code by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Verdicts {
    /// SFrame and CFI agree.
    pub equal: u64,
    /// They agree as far as the section's version can express.
    pub limited: u64,
    /// They differ.
    pub different: u64,
    /// Only CFI describes the code.
    pub only_cfi: u64,
    /// Only SFrame describes it.
    pub only_sframe: u64,
    /// Neither does.
    pub neither: u64,
    /// The comparison was not possible.
    pub undecided: u64,
}

/// Functions by the section that describes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CoveredFunctions {
    /// SFrame and CFI describe all of the function.
    pub both: u64,
    /// CFI describes all of the function, SFrame only a part.
    pub partly: u64,
    /// Only CFI describes it.
    pub only_cfi: u64,
    /// Only SFrame describes it.
    pub only_sframe: u64,
}

/// Functions that SFrame does not describe, for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss<'r> {
    /// The name of the cause; `none` if nothing in the CFI explains the loss.
    #[serde(borrow)]
    pub cause: Text<'r>,
    /// The number of functions.
    #[serde(default)]
    pub functions: u64,
    /// Their size in bytes of code.
    #[serde(default)]
    pub bytes: u64,
    /// The first few of them; in sums the first one.
    #[serde(borrow, default)]
    pub examples: Vec<FunctionPlace<'r>>,
}

impl Loss<'_> {
    /// Whether nothing in the CFI explains the loss.
    #[must_use]
    pub fn is_unexplained(&self) -> bool {
        self.cause.as_str() == Cause::Unexplained.name()
    }
}

/// Functions that have no entry in SFrame nor in CFI: named code of which nothing describes any byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WithoutEntry<'r> {
    /// The number of functions.
    pub functions: u64,
    /// The size of their code in bytes.
    pub bytes: u64,
    /// The largest of them, the largest first: at most 100, and more only with `--all`. In sums at most 20.
    #[serde(borrow)]
    pub largest: Vec<FunctionPlace<'r>>,
}

/// The maximum number of functions without an entry that a sum lists.
const LARGEST: usize = 20;

impl WithoutEntry<'_> {
    /// Adds the functions of the file with this name.
    fn add(&mut self, other: &WithoutEntry<'_>, name: &dyn Fn() -> String) {
        self.functions = self.functions.saturating_add(other.functions);
        self.bytes = self.bytes.saturating_add(other.bytes);
        for function in other.largest.iter().take(LARGEST) {
            // Of functions of one size, those of earlier files come first.
            let place = self.largest.partition_point(|known| known.size >= function.size);
            if place < LARGEST {
                self.largest.truncate(LARGEST - 1);
                self.largest.insert(place, function.clone().of_file(name()));
            }
        }
    }
}

/// A function by start address and symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FunctionPlace<'r> {
    /// The file that contains it; only in sums.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub file: Option<Text<'r>>,
    /// The start address, or the offset in `code_section`.
    pub start: Address,
    /// The section that contains it; only in relocatable objects.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// Size in bytes of code.
    pub size: u64,
    /// The symbol at its start.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'r>>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<Text<'r>>,
    /// Offset in bytes from the start of the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
    /// The source line of the start, if the file has debugging information; only for functions without an entry.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine<'r>>,
}

/// A property that CFI states and the section's version cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit<'r> {
    /// `signal` or `undefined-ra`.
    #[serde(borrow)]
    pub field: Text<'r>,
    /// The number of functions with this property.
    #[serde(default)]
    pub functions: u64,
    /// The number of bytes of code with this property.
    #[serde(default)]
    pub bytes: u64,
}

/// The coverage of many files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverageTotal<'r> {
    /// The number of files.
    pub files: u64,
    /// The sums over these files.
    #[serde(borrow, flatten)]
    pub coverage: Coverage<'r>,
}

impl CoverageTotal<'_> {
    /// Adds the coverage of the file with this name.
    pub fn add(&mut self, coverage: &Coverage<'_>, name: &dyn Fn() -> String) {
        self.files = self.files.saturating_add(1);
        self.coverage.bytes.add(&coverage.bytes);
        self.coverage.functions.add(&coverage.functions);
        add_losses(&mut self.coverage.losses, &coverage.losses, name);
        if let Some(without) = &coverage.without_entry {
            self.coverage.without_entry.get_or_insert_default().add(without, name);
        }
        for limit in &coverage.limits {
            let limits = &mut self.coverage.limits;
            let place = limits.binary_search_by(|known| known.field.as_str().cmp(&limit.field));
            let field = || limit.field.clone().into_owned();
            let new = || Limit { field: field(), functions: 0, bytes: 0 };
            if let Some(sum) = entry(limits, place, new) {
                sum.functions = sum.functions.saturating_add(limit.functions);
                sum.bytes = sum.bytes.saturating_add(limit.bytes);
            }
        }
    }
}

/// Adds the losses of the file with this name to the sums of other files, which are in the oracle's order.
pub(crate) fn add_losses(sums: &mut Vec<Loss<'_>>, losses: &[Loss<'_>], name: &dyn Fn() -> String) {
    for loss in losses {
        let key = |cause: &str| (place_of_cause(cause), cause.to_owned());
        let place = sums.binary_search_by_key(&key(&loss.cause), |known| key(&known.cause));
        let cause = || loss.cause.clone().into_owned();
        let new = || Loss { cause: cause(), functions: 0, bytes: 0, examples: Vec::new() };
        if let Some(sum) = entry(sums, place, new) {
            sum.functions = sum.functions.saturating_add(loss.functions);
            sum.bytes = sum.bytes.saturating_add(loss.bytes);
            if let (true, Some(first)) = (sum.examples.is_empty(), loss.examples.first()) {
                sum.examples.push(first.clone().of_file(name()));
            }
        }
    }
}

impl FunctionPlace<'_> {
    /// Adds the name of the file that contains the place.
    pub(crate) fn of_file(self, file: String) -> FunctionPlace<'static> {
        let FunctionPlace {
            file: _,
            start,
            code_section,
            size,
            symbol,
            symbol_hex,
            symbol_offset,
            source,
        } = self;
        FunctionPlace {
            file: Some(file.into()),
            start,
            code_section: code_section.map(Text::into_owned),
            size,
            symbol: symbol.map(Text::into_owned),
            symbol_hex: symbol_hex.map(Text::into_owned),
            symbol_offset,
            source: source.as_ref().map(SourceLine::owned),
        }
    }
}

/// The position of a cause in the oracle's order; unknown causes sort last.
fn place_of_cause(name: &str) -> usize {
    Cause::ALL.iter().position(|cause| cause.name() == name).unwrap_or(Cause::ALL.len())
}

impl Verdicts {
    /// All bytes of code.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Verdicts { equal, limited, different, only_cfi, only_sframe, neither, undecided } =
            *self;
        [equal, limited, different, only_cfi, only_sframe, neither, undecided]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &Verdicts) {
        for (sum, number) in [
            (&mut self.equal, other.equal),
            (&mut self.limited, other.limited),
            (&mut self.different, other.different),
            (&mut self.only_cfi, other.only_cfi),
            (&mut self.only_sframe, other.only_sframe),
            (&mut self.neither, other.neither),
            (&mut self.undecided, other.undecided),
        ] {
            *sum = sum.saturating_add(number);
        }
    }
}

impl CoveredFunctions {
    fn add(&mut self, other: &CoveredFunctions) {
        for (sum, number) in [
            (&mut self.both, other.both),
            (&mut self.partly, other.partly),
            (&mut self.only_cfi, other.only_cfi),
            (&mut self.only_sframe, other.only_sframe),
        ] {
            *sum = sum.saturating_add(number);
        }
    }
}
