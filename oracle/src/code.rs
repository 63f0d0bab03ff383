//! Machine code as a witness: what the instructions of a function themselves say about its frames.
//!
//! A function is executed abstractly from its entry along every path: which registers hold the stack pointer's and other
//! registers' values at entry, at which distance from the canonical frame address (CFA), and where they are saved. Where
//! paths meet with different facts, nothing is known. So a fact is known only if it holds on all paths that were found.
//!
//! What it relies on: called functions keep the registers that the psABI requires them to keep, and return with the stack as
//! it was; and saved registers are overwritten only through addresses that the function computes from its stack pointer.
//!
//! Code that no path leads to is unknown: padding, the targets of jumps through tables that cannot be read, and code
//! that only a debugger or another thread enters.

mod aarch64;
mod amd64;
mod block;
mod bounds;
mod calls;
mod decoder;
mod effect;
mod fixpoint;
mod image;
mod leads;
mod listing;
mod places;
mod program;
mod queue;
mod recent;
mod relocated;
mod scan;
mod scratch;
mod slots;
mod state;
mod statement;
mod step;
mod surroundings;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod workspace;

pub use amd64::instruction_length as amd64_instruction_length;
pub use program::{Code, Function, LARGEST_FUNCTION};
pub use statement::{Checked, Facts, Known, Truth};
pub(crate) use statement::{View, Watched};
pub use workspace::Workspace;
