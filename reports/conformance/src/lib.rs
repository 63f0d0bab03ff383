//! Conformance vectors for readers of SFrame sections: bytes, and the right answers for each clause of the format's
//! three versions.
//!
//! Implement the three functions of [`Reader`], and call [`run`]:
//!
//! ```
//! use sframe_conformance::{Answer, Found, Opened, Reader, Section, Start, Verdict, Walked, run, vectors};
//!
//! /// A reader that refuses everything: it passes only the vectors that a reader may refuse.
//! struct Refuses;
//!
//! impl Reader for Refuses {
//!     fn open(&mut self, _: &Section) -> Answer<Opened> {
//!         Answer::Refused("everything".into())
//!     }
//!     fn lookup(&mut self, _: u64) -> Answer<Option<Found>> {
//!         Answer::Given(None)
//!     }
//!     fn walk(&mut self, _: &Start) -> Answer<Walked> {
//!         Answer::Unsupported("walks".into())
//!     }
//! }
//!
//! let outcomes = run(&mut Refuses, &vectors());
//! let of = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
//! assert!(of(Verdict::Fail) > of(Verdict::Pass));
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

pub use address::Address;
pub use cause::{Cause, causes, clause};
pub use check::{Outcome, Verdict, run, run_one};
pub use command::Command;
pub use frame::{Base, Frame, Recovery, Rule};
pub use reader::{
    Answer, End, Found, Function, Header, Key, Memory, Opened, Reader, Request, Row, Start, Walked,
    WalkedFrame,
};
pub use score::{Count, Score};
pub use section::Section;
#[cfg(feature = "validator")]
pub use validator::Validator;
pub use vector::{Clause, Expect, Kind, LoadError, Lookup, SCHEMA, Vector, Walk, load, vectors};
