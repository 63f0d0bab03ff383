//! DWARF call frame information: `.eh_frame` and `.debug_frame` as functions and rows.
//!
//! [`Cfi::load_all`] reads the fields of every entry once, in the order of the file: the code that it describes, its
//! CIE, and the location of its instructions. Rows are made on demand, by evaluating the instructions for only the CFA,
//! the return address, the frame pointer and the AArch64 signing state.
//!
//! A defect affects only its own entry. It is listed with its place ([`Cfi::defects`]), or is an error among the rows;
//! the other entries are still read.
//!
//! # What a missing rule means
//!
//! A register without a rule is [`Recovery::Unchanged`], like one with the rule "same value". The same applies to the
//! return address, on every machine. On AMD64, its column 16 is not a register, so such a row cannot be unwound. If
//! SFrame has CFA - 8 there, that is reported as a difference.
//!
//! [`Recovery::Unchanged`]: sframe_validator::unwind::Recovery::Unchanged

mod compression;
mod entry;
mod error;
mod evaluation;
mod executable;
mod expression;
mod function;
mod instruction;
mod landing_pads;
mod layout;
mod load;
mod machine;
mod order;
mod pointer;
mod registers;
mod rows;
mod search_table;
mod section;
mod state;
mod traces;

pub use compression::section_bytes;
pub use entry::Cie;
pub(crate) use entry::FdeRecord;
pub use error::{CfiError, CfiErrorKind};
pub(crate) use evaluation::Evaluation;
pub(crate) use executable::Executable;
pub use function::Fde;
pub use instruction::{Instruction, Instructions};
pub use landing_pads::LandingPad;
pub use layout::Kind;
pub(crate) use layout::Layout;
pub use load::CfiSource;
pub(crate) use pointer::{Bases, Slice, is_defined};
pub(crate) use pointer::{Formula, Relocations};
pub(crate) use registers::RegisterRows;
pub use rows::{RowContext, Rows};
pub use search_table::{SearchDefect, SearchDefectKind, check_search_table};
pub use section::{Cfi, DefectCount};
pub use state::MAX_STATES;
pub(crate) use state::same;
pub(crate) use traces::Traces;
