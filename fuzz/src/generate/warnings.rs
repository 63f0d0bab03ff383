//! The warnings that a plan should cause: those about features that are legal but unusual.

use std::collections::BTreeSet;

use sframe_validator::unwind::Frame;
use sframe_validator::{Abi, Version};

use super::{FunctionPlan, Plan};

/// The warning-level rules that report something about a plan's section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Rules that must report something.
    pub must: BTreeSet<&'static str>,
    /// Rules that may report something.
    pub may: BTreeSet<&'static str>,
}

/// Rules about the content of rows that unusual frames break.
const ODD_FRAMES: [&str; 6] = [
    "cfa-offset-low",
    "cfa-alignment",
    "slot-alignment",
    "slot-outside-frame",
    "fp-lost",
    "flex-sp-loaded",
];

impl Plan {
    /// The expected warnings.
    #[must_use]
    pub fn warnings(&self) -> Warnings {
        let mut must = BTreeSet::new();
        let mut add = |name, condition| {
            if condition {
                must.insert(name);
            }
        };
        let functions = &self.functions;
        let any = |predicate: &dyn Fn(&FunctionPlan) -> bool| functions.iter().any(predicate);
        let early = self.version < Version::V3;
        let rows = any(&|function| !function.rows.is_empty());
        add("obsolete-version", self.version == Version::V1);
        let repeated = any(&|function| function.repeat.is_some());
        add("repeat-size-unknown", self.version == Version::V1 && repeated);
        add("frame-pointer-claim", self.claim);
        add("auxiliary-header", !self.auxiliary.is_empty());
        add("function-table-offset", !self.gap_before_functions.is_empty());
        add("subsection-gap", !self.gap_before_rows.is_empty());
        let table = 28 + self.auxiliary.len() + self.gap_before_functions.len();
        add("function-table-alignment", self.version == Version::V2 && !table.is_multiple_of(4));
        add("rows-unused", !self.unused_rows.is_empty());
        add("trailing-bytes", !self.trailing.is_empty() && !self.is_padded());
        let without = any(&|function| function.rows.is_empty());
        add("no-rows", early && without && !rows);
        add("function-without-rows", early && without && rows);
        add("flexible-without-rows", any(&|f| f.flexible && f.rows.is_empty()));
        add("flex-abi", self.abi.is_aarch64() && any(&|f| f.flexible && !f.rows.is_empty()));
        add("function-size-zero", any(&|function| function.size == 0));
        add("first-row-offset", any(&|f| f.rows.first().is_some_and(|row| row.0 != 0)));
        let at_end = |f: &FunctionPlan| f.repeat.is_none() && f.size > 0;
        add("row-at-end", any(&|f| at_end(f) && f.rows.iter().any(|row| row.0 == f.size)));
        add("row-duplicate-start", any(&|f| f.rows.windows(2).any(|w| w[0].0 == w[1].0)));
        let cut =
            |f: &FunctionPlan| f.repeat.is_some_and(|b| b > 0 && !f.size.is_multiple_of(b.into()));
        add("repeat-size-multiple", any(&cut));
        let outermost = |f: &FunctionPlan| f.rows.iter().any(|row| row.1 == Frame::OUTERMOST);
        add("word-count-zero", self.version == Version::V2 && !self.pcrel && any(&outermost));
        let may = if self.odd_frames { ODD_FRAMES.into_iter().collect() } else { BTreeSet::new() };
        Warnings { must, may }
    }

    /// Additional warnings about linked files.
    #[must_use]
    pub fn warnings_in_file(&self) -> Warnings {
        let mut warnings = self.warnings();
        if !self.sorted {
            warnings.must.insert("unsorted-linked");
        }
        let off = |f: &FunctionPlan| {
            f.repeat.is_some_and(|block| block > 0 && !f.start.is_multiple_of(block.into()))
        };
        if self.functions.iter().any(off) {
            warnings.must.insert("repeat-start-alignment");
        }
        warnings
    }

    /// Additional warnings about relocatable objects.
    #[must_use]
    pub fn warnings_in_object(&self) -> Warnings {
        let mut warnings = self.warnings();
        if self.functions.iter().any(|function| function.repeat.is_some()) {
            warnings.must.insert("repeat-in-object");
        }
        warnings
    }

    /// Whether the bytes after the rows are the padding that assemblers write.
    fn is_padded(&self) -> bool {
        let size = self.build().map_or(0, |built| built.bytes.len());
        let end = size.saturating_sub(self.trailing.len());
        self.trailing.iter().all(|byte| *byte == 0) && size == end.next_multiple_of(8)
    }

    /// Whether the section can be in a linked file: it has the ABI's byte order, and does not overlap the code.
    #[must_use]
    pub fn fits_file(&self) -> bool {
        let (start, end) = self.code();
        let apart = end <= self.address || self.address + 0x1000 <= start;
        self.fits_machine() && !self.object && apart
    }

    /// Whether the section can be in a relocatable object.
    #[must_use]
    pub fn fits_object(&self) -> bool {
        self.fits_machine() && self.object
    }

    fn fits_machine(&self) -> bool {
        self.endian == self.abi.endian() && !(self.abi == Abi::S390x && self.version == Version::V1)
    }
}
