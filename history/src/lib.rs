//! What became of SFrame sections from one scan to the next.
//!
//! A scan of `sframe-check` says of each file what was found in it: one [`Record`].

pub mod record;

pub use record::Record;
