//! The targets: each a function of bytes that panics where a promise is broken.

pub mod bytes;
pub mod cfi;
pub mod files;
pub mod generated;
pub mod mutated;
pub mod packages;
pub mod readers;
pub mod scans;
pub mod twins;
