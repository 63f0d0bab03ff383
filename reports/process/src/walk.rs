//! Stack walks: from the registers of a thread to its outermost frame, by the rows of any witness and any memory.
//!
//! [`Unwinder::step`] goes from one frame to its caller. [`Unwinder::walk_together`] walks by several witnesses at once, and finds the first
//! frame whose caller they disagree about.

mod call;
mod end;
mod expression;
mod further;
mod memory;
mod registers;
mod rules;
mod signal;
mod step;
mod together;

pub use end::End;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use expression::{Context, Evaluator};
pub use memory::Memory;
pub use registers::{Cursor, Registers};
pub use rules::{Gaps, LastFrame, Lookup, Rules};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use signal::amd64_context;
pub use step::{Step, Unwinder};
pub use together::{Cell, Level, Together};
