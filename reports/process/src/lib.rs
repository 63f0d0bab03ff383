//! Processes and core dumps, seen from outside: their threads, their memory, the files that they map, and the unwind
//! rows that every witness has at a runtime address.
//!
//! [`Files`] maps files into this program. [`Modules`] knows where a process has mapped them, and returns the
//! [`Statement`] of a [`Witness`] about a runtime address. [`CoreDump`] reads core dumps, and [`Process`] stops a
//! running process. [`walk`] goes from a thread's registers to its outermost frame, and [`trace`] executes a program step
//! by step.

#![deny(unsafe_code)]

mod auxv;
mod build_id;
mod core_dump;
mod error;
mod files;
mod live;
mod memory;
mod modules;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod ptrace;
mod statement;
pub mod trace;
pub mod walk;

pub use build_id::OtherBuild;
pub use core_dump::{CoreDump, CoreDumpError, CoreMemory, Places, Thread};
pub use error::{FileDefect, UnusableFile};
pub use files::Files;
pub use live::{LiveMemory, Process, StopError, ThreadRefusal};
pub use memory::Image;
pub use modules::{FileId, Mapping, Modules, Place, Symbolic, UnusedDebugFile};
pub use statement::{FurtherRules, Silence, Statement, Witness};
