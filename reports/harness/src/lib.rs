//! Tests programs of other projects: [`torture`] runs readers of SFrame on malformed sections, and [`reassemble`]
//! writes the code and CFI of a file as assembly, to test assemblers on it.
//!
//! [`limited`] runs untrusted programs under limits.

#![forbid(unsafe_code)]

pub mod limited;
pub mod reassemble;
pub mod torture;
