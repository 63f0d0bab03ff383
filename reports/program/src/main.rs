//! The program `sframe-check`: everything is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sframe_check::cli::run().into()
}
