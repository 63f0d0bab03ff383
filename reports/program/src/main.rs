//! The program `sframe-check`: everything is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sframe_check::cli::run().into()
}
