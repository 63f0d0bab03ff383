//! Changes of SFrame sections from one scan to the next.
//!
//! A scan of `sframe-check` produces one [`Record`] for each file. [`report`] reads them from reports. A [`Comparison`]
//! of two scans finds which findings are new or fixed and which code has lost its entries ([`changes`]). [`groups`]
//! groups the findings of one scan by root cause.
//!
//! Records are untrusted input: damage is an error, and memory and time grow with the data actually read, not with any
//! number stated in it.

pub mod changes;
pub mod compare;
pub mod groups;
mod identity;
pub mod report;
mod shape;

pub use compare::{Comparison, When};
pub use groups::Groups;
pub use identity::{FileIdentity, Identity, Root};
pub use sframe_record::Record;
