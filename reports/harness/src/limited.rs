//! Programs of other projects under limits: processor time, time by the clock, memory, output, and disk space. Neither
//! a process nor a temporary file of theirs is left, whatever ends them or this process.
//!
//! A [`Runner`] starts one process for each program, the *watcher* ([`watch`]). The watcher sets the limits for itself,
//! so that the program inherits them. It reads what the program prints, measures what it writes, ends it together with all
//! processes that it has started, and reports how it ended. It needs a process of its own for three reasons:
//! limits can be set between `fork` and `exec` only with `unsafe`; the system adds up what programs cost for each process that
//! waits for them; and only a process that inherits orphans can end them.
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

mod command;
mod end;
mod folder;
pub mod limits;
mod messages;
mod processes;
mod runner;
mod streams;
mod watcher;

pub use command::Command;
pub use end::{Cost, End, Ran};
pub use folder::Folder;
pub use limits::Limits;
pub use runner::{Finished, NotRun, Runner};
pub use watcher::{WATCHER, watch, watch_if_asked};
