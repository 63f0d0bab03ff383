//! The crate `simple-frame-rs` as a program of the line protocol:
//!
//!     cargo run -q -p sframe-conformance --example simple_frame < requests.json
//!
//! A reader of your own needs the same lines, and its implementation of `Reader`.

#[path = "../tests/readers/lines.rs"]
mod lines;
#[path = "../tests/readers/simple_frame.rs"]
mod simple_frame;

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

fn main() -> io::Result<ExitCode> {
    let mut reader = simple_frame::SimpleFrame::default();
    for line in io::stdin().lock().lines() {
        match lines::answer(&mut reader, &line?) {
            Ok(answer) => writeln!(io::stdout(), "{answer}")?,
            Err(reason) => {
                writeln!(io::stderr(), "{reason}")?;
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
