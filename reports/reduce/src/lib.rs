//! Reduces a finding in a large file to the smallest assembly source that shows the same finding once it is assembled, and
//! writes a report for the producer of the file.
//!
//! [`shrink`] is the reducer itself, for any value that has parts. [`Source`](source::Source) is assembly: functions with
//! `.cfi_` directives and code. [`read`] takes it from an existing file, by way of
//! [`reassemble`](mod@sframe_harness::reassemble). [`reduce`](reduce::reduce) removes and simplifies parts, as long as
//! the assembler at hand still makes an object with the finding, or as long as the linker at hand still makes such a file
//! of their objects. [`page`] writes the report.
//!
//! This package checks nothing itself: its caller says what the findings of a file are ([`Check`](reduce::Check)).

#![forbid(unsafe_code)]

pub mod assembler;
pub mod directives;
pub mod inputs;
pub mod linker;
pub mod page;
pub mod read;
pub mod reduce;
pub mod report;
pub mod shrink;
pub mod source;
pub mod wanted;

mod error;
mod simpler;
mod spelling;

pub use error::{ProgramError, ReadError, ReduceError};
