//! Verdicts and their sums.

use core::fmt;
use core::ops::AddAssign;

/// A set of the parts of a frame that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fields(u8);

impl Fields {
    /// The canonical frame address.
    pub const CFA: Fields = Fields(1);
    /// The return address.
    pub const RA: Fields = Fields(2);
    /// The caller's frame pointer.
    pub const FP: Fields = Fields(4);
    /// Whether the return address is signed, and with which key (AArch64).
    pub const RA_SIGNING: Fields = Fields(8);
    /// Whether a side states that this is an outermost frame.
    pub const UNDEFINED_RA: Fields = Fields(16);
    /// The mark of a signal frame.
    pub const SIGNAL: Fields = Fields(32);

    const NAMES: [(Fields, &'static str); 6] = [
        (Fields::CFA, "cfa"),
        (Fields::RA, "ra"),
        (Fields::FP, "fp"),
        (Fields::RA_SIGNING, "ra-signing"),
        (Fields::UNDEFINED_RA, "undefined-ra"),
        (Fields::SIGNAL, "signal"),
    ];

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` is in the set.
    #[must_use]
    pub const fn contains(self, other: Fields) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some of `other` is in the set.
    #[must_use]
    pub const fn intersects(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn with(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }

    #[inline]
    pub(super) fn add_if(&mut self, condition: bool, field: Fields) {
        if condition {
            self.0 |= field.0;
        }
    }

    /// The members of the set, each as a set of its own.
    pub fn members(self) -> impl Iterator<Item = Fields> {
        Fields::NAMES.into_iter().map(|(field, _)| field).filter(move |f| self.contains(*f))
    }

    /// The names of the members.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Fields::NAMES.into_iter().filter(move |(field, _)| self.contains(*field)).map(|(_, n)| n)
    }
}

/// The names of its members.
#[cfg(feature = "serde")]
impl serde::Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Fields {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names = Fields::NAMES.map(|(_, name)| name);
        schemars::json_schema!({"type": "array", "items": {"type": "string", "enum": names}})
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// The result of comparing SFrame and CFI at a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Both agree.
    Equal,
    /// Both agree as far as the section's version can express; it cannot express these fields.
    Limited(Fields),
    /// They differ in these fields.
    Different(Fields),
    /// Only CFI describes the code; SFrame has no function there, or one without rows.
    OnlyCfi,
    /// Only SFrame describes the code.
    OnlySframe,
    /// Neither describes the code.
    Neither,
    /// One of them cannot be read there; or an SFrame function with an unreadable start may describe the code; or CFI
    /// has an expression without a simpler meaning, and no other field differs.
    Undecided,
}

/// Executable bytes by verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sums {
    /// Bytes with [`Verdict::Equal`].
    pub equal: u64,
    /// Bytes with [`Verdict::Limited`].
    pub limited: u64,
    /// Bytes with [`Verdict::Different`].
    pub different: u64,
    /// Bytes with [`Verdict::OnlyCfi`].
    pub only_cfi: u64,
    /// Bytes with [`Verdict::OnlySframe`].
    pub only_sframe: u64,
    /// Bytes with [`Verdict::Neither`].
    pub neither: u64,
    /// Bytes with [`Verdict::Undecided`].
    pub undecided: u64,
}

impl Sums {
    /// The sum over all verdicts: the executable bytes of the file.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.equal
            .saturating_add(self.limited)
            .saturating_add(self.different)
            .saturating_add(self.only_cfi)
            .saturating_add(self.only_sframe)
            .saturating_add(self.neither)
            .saturating_add(self.undecided)
    }

    #[inline]
    pub(crate) fn add(&mut self, verdict: Verdict, bytes: u64) {
        let sum = match verdict {
            Verdict::Equal => &mut self.equal,
            Verdict::Limited(_) => &mut self.limited,
            Verdict::Different(_) => &mut self.different,
            Verdict::OnlyCfi => &mut self.only_cfi,
            Verdict::OnlySframe => &mut self.only_sframe,
            Verdict::Neither => &mut self.neither,
            Verdict::Undecided => &mut self.undecided,
        };
        *sum = sum.saturating_add(bytes);
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.equal, other.equal);
        add(&mut self.limited, other.limited);
        add(&mut self.different, other.different);
        add(&mut self.only_cfi, other.only_cfi);
        add(&mut self.only_sframe, other.only_sframe);
        add(&mut self.neither, other.neither);
        add(&mut self.undecided, other.undecided);
    }
}

/// Functions by who describes them, each counted once. CFI functions count if they have code and are not hidden by one
/// that starts later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FunctionCounts {
    /// CFI functions whose code SFrame describes completely.
    pub both: u64,
    /// CFI functions whose code SFrame describes partly.
    pub partly: u64,
    /// CFI functions whose code SFrame does not describe.
    pub only_cfi: u64,
    /// SFrame functions whose code CFI does not describe.
    pub only_sframe: u64,
    /// SFrame functions whose start address cannot be read, so that their code is in no sum.
    pub unplaced: u64,
}

impl AddAssign for FunctionCounts {
    fn add_assign(&mut self, other: FunctionCounts) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.both, other.both);
        add(&mut self.partly, other.partly);
        add(&mut self.only_cfi, other.only_cfi);
        add(&mut self.only_sframe, other.only_sframe);
        add(&mut self.unplaced, other.unplaced);
    }
}

/// Everything that a comparison counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes of code by verdict.
    pub bytes: Sums,
    /// Functions by who describes them.
    pub functions: FunctionCounts,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.bytes += other.bytes;
        self.functions += other.functions;
    }
}
