//! Programs of other projects under test: [`torture`] runs readers of SFrame on malformed sections, and
//! [`reassemble`] writes the code and CFI of a file as assembly, to try assemblers on it.
//!
//! [`limited`] is how these packages run any program they do not trust.

#![forbid(unsafe_code)]

pub mod limited;
pub mod reassemble;
pub mod torture;
