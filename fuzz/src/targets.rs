//! The targets. Each is a function of bytes that panics if a guarantee is violated.

pub mod bytes;
pub mod cfi;
pub mod files;
pub mod generated;
pub mod headers;
pub mod mutated;
pub mod names;
pub mod packages;
pub mod readers;
pub mod scans;
pub mod twins;
