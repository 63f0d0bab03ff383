//! Programs of others, and this one, under test: [`torture`] runs readers on malformed sections,
//! [`reassemble`] makes assembly of a file, for assemblers to be tried on.

#![forbid(unsafe_code)]

pub mod reassemble;
pub mod torture;
