//! Runs programs of other projects under limits of processor time, elapsed time, memory, output, and disk space. No
//! process or temporary file of theirs is left behind, however they or this process end.
//!
//! A [`Runner`] starts a separate process for each program, the *watcher* ([`watch`]). The watcher sets the limits for
//! itself, and the program inherits them. It reads what the program prints, measures what it writes, kills it together
//! with all processes that it has started, and reports how it ended. A separate process is needed for three reasons:
//! setting limits between `fork` and `exec` requires `unsafe`; the system adds up the cost of programs for the process
//! that waits for them; and only a process that inherits orphans can kill them.
//!
//! The watcher is the calling program itself, started with other arguments. Such a program calls [`watch_if_asked`] first:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use sframe_harness::limited::{Command, Folder, Limits, Runner, watch_if_asked};
//!
//! fn main() -> ExitCode {
//!     if let Some(status) = watch_if_asked() {
//!         return status;
//!     }
//!     let program = std::env::current_exe().expect("a program has a path");
//!     let limits = Limits { seconds: 10, memory_mib: 1024 };
//!     let command = Command::new(["readelf", "--version"]);
//!     let folder = Folder::new().expect("room for temporary files");
//!     match Runner::new(&program, limits).run(&command, folder) {
//!         Ok(finished) => println!("{}: {:?}", finished.ran.end, finished.ran.output),
//!         Err(error) => println!("{error}"),
//!     }
//!     ExitCode::SUCCESS
//! }
//! ```

mod attended;
mod command;
mod end;
mod folder;
pub mod limits;
mod messages;
mod processes;
mod runner;
mod streams;
mod watcher;

pub use attended::{ATTENDANT, Orphans, adopt_orphans, attend, attended};
pub use command::Command;
pub use end::{Cost, End, Ran};
pub use folder::Folder;
pub use limits::Limits;
pub use runner::{Finished, NotRun, Runner};
pub use watcher::{WATCHER, watch, watch_if_asked};
