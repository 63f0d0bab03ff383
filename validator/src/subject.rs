//! The subjects of rules' checks: the file, the first bytes, the section, a function, a row, and the section as a
//! whole. Each subject exists only if the one before it could be read.

pub(crate) mod code;
pub(crate) mod extents;
pub(crate) mod facts;
pub(crate) mod row_place;
pub(crate) mod shape;

use core::ops::Range;

use crate::abi::{Abi, Endian};
use crate::elf::{Elf, ElfSection, RelocationTable};
use crate::section::{
    Error, FieldPlace, FrameRowEntry, Function, FunctionEntry, Header, RowLayout, Section,
};
use crate::unwind::{Cfa, CodeAddress, Frame, Recovery};
use code::{CodeMap, CodeRange};
use extents::{Extents, Totals};
use facts::FileFacts;
use shape::ShapeSource;

/// What kind of file the section is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A relocatable object.
    Relocatable,
    /// An executable or a shared object.
    Linked,
    /// Bytes without a file.
    Bare,
}

/// A section in its ELF file.
pub(crate) struct FileContext<'a> {
    pub(crate) elf: &'a Elf<'a>,
    pub(crate) sframe: &'a ElfSection<'a>,
    /// The parsed section, if its header can be read.
    pub(crate) section: Option<&'a Section<'a>>,
    /// The section's relocations, if they can be read.
    pub(crate) relocations: Option<&'a RelocationTable>,
    /// The addresses in SFrame sections to which dynamic relocations apply, in ascending order.
    pub(crate) dynamic: &'a [u64],
    pub(crate) kind: FileKind,
}

impl FileContext<'_> {
    /// The addresses of the section.
    pub(crate) fn addresses(&self) -> Range<u64> {
        self.sframe.address..self.sframe.address.saturating_add(self.sframe.size)
    }

    pub(crate) fn is_linked(&self) -> bool {
        self.kind == FileKind::Linked
    }

    pub(crate) fn is_relocatable(&self) -> bool {
        self.kind == FileKind::Relocatable
    }
}

/// The first bytes of a section.
pub(crate) struct PreambleContext<'a> {
    pub(crate) data: &'a [u8],
    /// The byte order that the file or the caller requires.
    pub(crate) endian: Option<Endian>,
}

/// A section whose header can be read.
pub(crate) struct SectionContext<'a> {
    pub(crate) section: &'a Section<'a>,
    pub(crate) kind: FileKind,
}

impl<'a> SectionContext<'a> {
    pub(crate) fn header(&self) -> &'a Header {
        self.section.header()
    }

    /// The size of the section in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.section.data().len() as u64
    }

    pub(crate) fn abi(&self) -> Option<Abi> {
        self.section.abi().ok()
    }
}

/// One entry of the function table.
pub(crate) struct FunctionContext<'a> {
    pub(crate) whole: &'a SectionContext<'a>,
    pub(crate) entry: FunctionEntry<'a>,
    /// The function with its attributes, if they can be read.
    pub(crate) function: Result<Function<'a>, Error>,
    pub(crate) start: Result<CodeAddress, Error>,
    /// The start of the preceding entry in the table, if known.
    pub(crate) previous: Option<CodeAddress>,
    pub(crate) code: &'a CodeMap,
}

impl<'a> FunctionContext<'a> {
    /// The data from which the function's shape is computed; `range` is the range of code in which it starts.
    #[inline]
    pub(crate) fn shape_source(&self, range: Option<CodeRange>) -> ShapeSource<'_, 'a> {
        ShapeSource {
            whole: self.whole,
            entry: &self.entry,
            function: self.function.as_ref().ok(),
            start: self.start.ok(),
            previous: self.previous,
            code: self.code,
            range,
        }
    }

    pub(crate) fn abi(&self) -> Option<Abi> {
        self.whole.abi()
    }

    pub(crate) fn field(&self, field: crate::section::FunctionField) -> FieldPlace {
        self.entry.field(field)
    }

    pub(crate) fn readable(&self) -> Option<&Function<'a>> {
        self.function.as_ref().ok()
    }
}

/// One row of a function.
pub(crate) struct RowContext<'a> {
    pub(crate) function: &'a Function<'a>,
    pub(crate) row: &'a FrameRowEntry<'a>,
    /// The number of the row in its function.
    pub(crate) index: u32,
    /// The preceding row.
    pub(crate) previous: Option<&'a FrameRowEntry<'a>>,
    /// The end of its range in bytes from the function's start: the start of the next row, or the end of the function.
    pub(crate) end: u32,
    /// How to interpret its words.
    pub(crate) layout: &'a RowLayout,
    /// Its values, for rules about content.
    pub(crate) frame: Result<Frame, Error>,
    /// Whether the code may rely on the red zone of its machine, if that has one.
    pub(crate) red_zone: bool,
}

impl RowContext<'_> {
    /// The place and name of data word `index`.
    pub(crate) fn word(&self, index: usize) -> FieldPlace {
        const NAMES: [&str; 6] = [
            "data word 1",
            "data word 2",
            "data word 3",
            "data word 4",
            "data word 5",
            "data word 6",
        ];
        FieldPlace {
            offset: self.row.word_offset(index),
            size: u64::from(self.row.words.size()),
            name: NAMES.get(index).copied().unwrap_or("data word"),
        }
    }

    /// The place and name of the info byte.
    pub(crate) fn info(&self) -> FieldPlace {
        FieldPlace { offset: self.row.info_offset(), size: 1, name: "sfre_info" }
    }

    /// The place and name of the start field.
    pub(crate) fn start(&self) -> FieldPlace {
        let size = self.row.fre_type.width() as u64;
        FieldPlace { offset: self.row.offset, size, name: "sfre_start_address" }
    }
}

/// A row that could not be read, and the reason.
pub(crate) struct UnreadableRow<'a> {
    pub(crate) function: &'a Function<'a>,
    pub(crate) error: Error,
}

/// The rows of one function taken together. This is computed only if lints are checked.
pub(crate) struct RowsContext<'a> {
    pub(crate) function: &'a Function<'a>,
    /// The number of rows.
    pub(crate) count: u32,
    /// Whether a row has a signed RA.
    pub(crate) mangled: bool,
    /// Whether a row has values that a default row cannot express.
    pub(crate) needs_flexible: bool,
}

impl<'a> RowsContext<'a> {
    pub(crate) fn new(function: &'a Function<'a>) -> RowsContext<'a> {
        RowsContext { function, count: 0, mangled: false, needs_flexible: false }
    }

    /// Takes another row into account.
    pub(crate) fn add(&mut self, row: &RowContext<'_>) {
        let abi = row.layout.abi;
        self.count += 1;
        self.mangled |= row.row.info.mangled_ra();
        self.needs_flexible |= row.frame.is_ok_and(|frame| {
            let base = match frame.cfa {
                Cfa::RegisterOffset { register, .. } => {
                    register == abi.sp() || register == abi.fp()
                }
                Cfa::Dereference { .. } | Cfa::DereferencePlus { .. } | Cfa::Expression(_) => false,
                Cfa::Undefined => true,
            };
            let slot =
                |r| matches!(r, Recovery::Unchanged | Recovery::Undefined | Recovery::AtCfa(_));
            let fixed_ra = row.layout.fixed_ra;
            let ra = fixed_ra == 0
                || frame.cfa == Cfa::Undefined
                || frame.ra == Recovery::AtCfa(i64::from(fixed_ra));
            // If RA has no word of its own, it has none before FP's word either. Only on s390x can padding take its
            // place.
            let order = abi == Abi::S390x
                || fixed_ra != 0
                || frame.ra != Recovery::Unchanged
                || frame.fp == Recovery::Unchanged;
            !(base && ra && order && slot(frame.ra) && slot(frame.fp))
        });
    }
}

/// The section as a whole.
pub(crate) struct TotalContext<'a> {
    pub(crate) whole: &'a SectionContext<'a>,
    pub(crate) totals: &'a Totals,
    pub(crate) extents: &'a Extents,
    /// The file, if there is one.
    pub(crate) elf: Option<&'a Elf<'a>>,
    /// The rest of the file; only if lints are checked and there is a file.
    pub(crate) facts: Option<&'a FileFacts<'a>>,
}
