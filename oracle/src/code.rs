//! Machine code as a witness: what the instructions of a function themselves say about its frames.
//!
//! A function is executed abstractly from its entry along every path: which registers hold the stack pointer's and other
//! registers' values at entry, at which distance from the canonical frame address (CFA), and where they are saved. Where
//! paths meet with different facts, nothing is known. So a fact is known only if it holds on all paths that were found.
//!
//! What it relies on: called functions keep the registers that the psABI requires them to keep, and return with the stack as
//! it was; and saved registers are overwritten only through addresses that the function computes from its stack pointer.
//!
//! Program that no path leads to is unknown: padding, the targets of jumps through tables that cannot be read, and code
//! that only a debugger or another thread enters.

mod aarch64;
mod address_set;
mod amd64;
mod block;
mod calls;
mod context;
mod cross_references;
mod effect;
mod fixpoint;
mod function_bounds;
mod graph;
mod image;
mod judgement;
mod jump_table;
mod machine;
mod program;
mod recent_addresses;
mod relocation;
mod scratch;
mod stack;
mod state;
mod step;
mod summary;
#[cfg(test)]
mod tests;
mod value;
mod worklist;
mod workspace;

pub use amd64::instruction_length as amd64_instruction_length;
pub(crate) use judgement::{FrameView, WatchedRegisters};
pub use judgement::{Judgement, KnownFacts, ProvenRow, Truth};
pub use program::{Function, LARGEST_FUNCTION, Program};
pub use workspace::Workspace;
