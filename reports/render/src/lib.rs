//! What `sframe-check` prints: [reports](report) of scans in every format, and the output of the commands that look at
//! files in another way.
//!
//! Everything here is computed by other packages, and only written.

#![forbid(unsafe_code)]

pub mod conformance;
pub mod diff;
pub mod dump;
pub mod explain;
mod function_name;
pub mod lookup;
pub mod near;
pub mod report;
pub mod size;
pub mod trace;
pub mod walk;
mod why;
