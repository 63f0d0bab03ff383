//! Machine code as a witness: what the instructions of a function prove about its frames.
//!
//! This is a forward data-flow analysis by abstract interpretation, interleaved with the discovery of code. A function is
//! executed abstractly from its entries: which registers hold the stack pointer's and other registers' values at the
//! entry, at which distance from the canonical frame address (CFA), and where they are saved. A fact remains only if it
//! holds on all paths.
//!
//! ```text
//!  file ──► image ──► cross references ──► entries ─────┐              amd64/ aarch64/: decoder, semantics
//!                                                       ▼                          │
//!                    ┌──────────► discovery: control-flow graph ◄──────────────────┘
//!                    │                                  │
//!   code, fallen     │          worklist ──► transfer ──┴─► edges ──► join, widening ─┐
//!   assumptions      │             ▲                                                  │ the state changed
//!                    │             └──────────────────────────────────────────────────┘
//!                    └───────────── the worklist is empty ──► fixpoint ──► replay ──► judgement
//!                                                                │
//!                                              summary ──► analyses of other functions
//! ```
//!
//! | Box | What it is | Files |
//! |---|---|---|
//! | Image | The file: where functions start and end, their code and data, relocations | `image.rs`, `function_bounds.rs`, `unnamed_functions.rs`, `relocation/` |
//! | Cross references | The call graph, jumps between functions, functions that do not return: in one pass over all code or, for a few functions, by a search for what refers to them | `cross_references/`, `recent_addresses.rs`, `address_set.rs` |
//! | Entries | Where a function is entered, by which evidence, and whether code is a fragment of another function | `program.rs`, `context.rs` |
//! | Discovery | The control-flow graph: instructions are decoded where control may go, and divided into basic blocks. It grows in rounds: targets of indirect jumps and fragments elsewhere are known only from states | `graph.rs`, `block.rs`, `step.rs`, `jump_table.rs`, `fixpoint.rs` |
//! | Worklist | The blocks whose states have changed, in the order of addresses. Edges that rely on an assumption come when no other work is left | `worklist.rs`, `fixpoint/round.rs` |
//! | Transfer | The transfer function of an instruction: its effects, applied to an abstract state | `effect.rs`, `state/transfer.rs` |
//! | Domain | The abstract state: for each register an element of a flat lattice, whose top is "unknown", and the stack | `state.rs`, `value.rs`, `stack.rs` |
//! | Edges | Jumps, branches that refine the state, exceptions, tail calls | `fixpoint/edges.rs` |
//! | Join | Where edges meet, what differs becomes unknown | `fixpoint/join.rs`, `state.rs` |
//! | Widening | The lattice has finite height, so that the analysis ends without it. At the head of a loop, what the loop rarely preserves is dropped at once, which saves visits | `state.rs` |
//! | Summaries | What other functions need to know of an analysed one: its tail calls and fragments; and of one that is called, whether it keeps registers | `summary.rs`, `outlined.rs` |
//! | Replay | The pass over the fixpoint, which derives the state before each instruction from that of its block, and finds the instruction that made a frame what it is | `fixpoint/replay.rs`, `fixpoint/provenance.rs` |
//! | Judgement | Which row a state proves, and which rows it refutes | `judgement.rs`, `view.rs`, `function.rs` |
//! | Explanation | Why nothing is decided: where a path ends, where a part of the frame is lost, and what is padding | `unproven.rs`, `explanation.rs`, `fixpoint/loss.rs`, `padding.rs` |
//! | Budget | Blocks that may be executed for a file, a function and a round, so that time is linear in the file's size. Beyond it nothing is claimed | `budget.rs` |
//! | Machines | Decoders, semantics and conventions | `machine.rs`, `conventions.rs`, `amd64/`, `aarch64/` |
//! | Memory | What is used again from function to function; it changes no result | `workspace.rs`, `scratch.rs` |
//!
//! The analysis relies on assumptions. Those of the first kind are checked while it runs. Each edge says on which it
//! relies (`worklist::Assumption`). Where edges meet whose stack pointers contradict each other, the less
//! certain assumption falls, and the function is analysed anew:
//!
//! - An address is an entry, although nothing is known to call it.
//! - A call returns.
//!
//! A wrong one only adds paths. Where these meet real ones, facts are lost, or the contradiction shows the mistake. Code
//! that only such a path reaches is not executed by this function; if jumps of others have it as their target, the
//! assumption falls as well.
//!
//! Those of the second kind are what psABIs and compilers promise. Code written by hand that breaks a promise may be
//! judged wrongly:
//!
//! - Called functions keep the registers that the psABI requires them to keep, but for outlined ones of the file, and return with the stack as it was.
//! - Saved registers are overwritten only through addresses that the function computes from its stack pointer.
//! - What the caller passed, and SP is set to, is another stack if the function returns on its own.
//!
//! If a jump may lead anywhere, code that is not known may enter any block: then no register is taken to hold its entry
//! value still, but what was saved stays known. A function that returns with another stack than it was entered with, or
//! in which instructions overlap, proves nothing. Nor does code that no path reaches: padding, the targets of jumps
//! through tables that cannot be read, and code that only a debugger or another thread enters.

mod aarch64;
mod address_set;
mod amd64;
mod block;
mod budget;
mod calls;
mod context;
mod conventions;
mod cross_references;
mod effect;
mod explanation;
mod fixpoint;
mod function;
mod function_bounds;
mod graph;
mod image;
mod imports;
mod judgement;
mod jump_table;
mod machine;
mod no_return_names;
mod outlined;
mod padding;
mod pointers;
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
mod trailing_padding;
mod unnamed_functions;
mod unproven;
mod value;
mod view;
mod ways;
mod worklist;
mod workspace;

pub use amd64::instruction_length as amd64_instruction_length;
pub use budget::LARGEST_FUNCTION;
pub use context::EntryKind;
pub use fixpoint::Arrival;
pub(crate) use fixpoint::Losses;
pub use function::Function;
pub(crate) use judgement::Unknown;
pub use judgement::{Judgement, KnownFacts, ProvenRow, Truth};
pub use program::Program;
pub(crate) use trailing_padding::padding_at_end;
pub use unproven::{Unproven, WhyUnproven};
pub(crate) use view::{CalleeSavedView, FrameView, WatchedRegisters};
pub use ways::{IncomingEdge, WayStep};
pub use workspace::Workspace;
