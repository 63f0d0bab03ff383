//! `sframe-check`: checks, explains and prints the SFrame stack-trace sections of files, archives
//! and whole distributions.
//!
//! The program is the command line: `sframe_scan` checks files, and `sframe_render` prints what it finds. `sframe_harness`
//! runs other readers and assemblers.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run().into()
}
