//! `sframe-check`: checks, explains and prints the SFrame stack-trace sections of files, archives
//! and whole distributions.
//!
//! The program is a thin shell around this library. Data flows one way: `sframe_input` finds and maps files, [`scan`]
//! checks them in parallel and makes a [`record`] of each in input order, and [`render`] writes the records. [`dump`]
//! prints whole sections, [`diff`] compares two files, and [`explain`] prints the rules' pages. `sframe_harness` runs
//! other readers and assemblers.
//!
//! Nothing here decides whether a section is valid: `sframe-validator` does, and `sframe-oracle` compares it with
//! CFI.

#![deny(unsafe_code)]

pub mod cli;
pub mod conformance;
pub mod diff;
pub mod disassembly;
pub mod dump;
pub mod explain;
pub mod lookup;
pub mod record;
pub mod render;
pub mod scan;
pub mod size;
pub mod stored;
pub mod trace;
pub mod walk;
