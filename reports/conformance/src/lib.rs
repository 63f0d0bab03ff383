//! Conformance vectors for readers of SFrame sections: bytes, and the right answers for each clause of the format's
//! three versions.
//!
//! Implement the three functions of [`Reader`], and call [`run`]:
//!
//! ```
//! use sframe_conformance::{
//!     Answer, Found, Frame, Opened, Reader, Recovery, Section, Start, Walked, causes, run, vectors,
//! };
//!
//! /// A reader that knows AMD64 and version 2 alone, and takes every PC to be at the start of a function.
//! struct Guess;
//!
//! impl Reader for Guess {
//!     fn open(&mut self, section: &Section) -> Answer<Opened> {
//!         let bytes = section.bytes().unwrap_or_default();
//!         if section.machine != "amd64" || bytes.get(2).is_some_and(|version| *version != 2) {
//!             return Answer::Unsupported("the machine or the version".into());
//!         }
//!         if bytes.len() < 28 {
//!             return Answer::Refused("the header has 28 bytes".into());
//!         }
//!         Answer::Given(Opened::default())
//!     }
//!
//!     fn lookup(&mut self, _pc: u64) -> Answer<Option<Found>> {
//!         let frame = Frame {
//!             cfa: "r7+8".parse().ok(),
//!             ra: "*(cfa-8)".parse().ok(),
//!             fp: Some(Recovery::Unchanged),
//!             signed: Some(false),
//!         };
//!         Answer::Given(Some(Found { function: None, frame }))
//!     }
//!
//!     fn walk(&mut self, _: &Start) -> Answer<Walked> {
//!         Answer::Unsupported("walks".into())
//!     }
//! }
//!
//! let outcomes = run(&mut Guess, &vectors());
//! let causes = causes(&outcomes);
//! for (clause, causes) in &causes {
//!     for cause in causes {
//!         println!("{clause}: {} and others ({}): {:?}", cause.example.name, cause.vectors, cause.example.wrong.first());
//!     }
//! }
//! // A test of a real reader asserts that there are none.
//! assert!(causes.contains_key("v2/2.1-preamble"));
//! ```
//!
//! [`Command`] is a reader in another process, which answers requests as lines of JSON. The vectors, their schema and
//! the protocol are described in `corpus/conformance/README.md` of the repository. This crate knows nothing about
//! SFrame except the vectors.

#![forbid(unsafe_code)]

mod address;
mod cause;
mod check;
mod command;
mod frame;
mod reader;
mod score;
mod section;
#[cfg(feature = "validator")]
mod validator;
mod vector;

pub use address::{Address, AddressError};
pub use cause::{Cause, causes, clause};
pub use check::{Outcome, PATIENCE, Verdict, run, run_one};
pub use command::Command;
pub use frame::{Base, Frame, Recovery, Rule, RuleError};
pub use reader::{
    Answer, End, Found, Function, Header, Key, Lost, Memory, Opened, Reader, Request, Row, Start,
    Walked, WalkedFrame,
};
pub use score::{Count, Score};
pub use section::Section;
#[cfg(feature = "validator")]
pub use validator::Validator;
pub use vector::{Clause, Expect, Kind, LoadError, Lookup, SCHEMA, Vector, Walk, load, vectors};
