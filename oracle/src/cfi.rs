//! DWARF call frame information: `.eh_frame` and `.debug_frame` as functions and rows.
//!
//! [`Cfi::load_all`] reads the frame of every entry once, in the order of the file: which code it
//! is about, which CIE it follows, where its instructions are. Rows are made when they are asked
//! for, by evaluating the instructions for the CFA, the return address, the frame pointer and the
//! AArch64 signing state, and nothing else.
//!
//! What cannot be read costs its own entry. It is listed with its place ([`Cfi::defects`]), or is
//! an error among the rows; the next entry is still there.
//!
//! # What a missing rule means
//!
//! A register without a rule is [`Recovery::Unchanged`], as one with the rule "same value" is. The
//! same holds for the return address, on every machine. On AMD64 its column 16 names no register,
//! so that such a row cannot be unwound: SFrame, where it says CFA - 8, differs from it, and
//! that difference is told.
//!
//! [`Recovery::Unchanged`]: sframe_validator::unwind::Recovery::Unchanged

mod compression;
mod entry;
mod error;
mod evaluation;
mod expression;
mod function;
mod instruction;
mod load;
mod machine;
mod pointer;
mod rows;
mod section;
mod states;

pub use entry::Cie;
pub use error::{CfiError, CfiErrorKind};
pub(crate) use evaluation::Evaluation;
pub use function::Fde;
pub use instruction::{Instruction, Instructions};
pub use load::CfiSource;
pub use machine::MAX_STATES;
pub(crate) use machine::{Traces, same};
pub use rows::{RowContext, Rows};
pub use section::{Cfi, Kind};
