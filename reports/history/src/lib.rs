//! What became of SFrame sections from one scan to the next.
//!
//! A scan of `sframe-check` says of each file what was found in it: one [`Record`]. [`report`]
//! reads them from its reports. Two scans make a [`Comparison`]: which findings are new or fixed,
//! which code has lost its entries ([`changes`]). [`groups`] lays the findings of one scan together
//! that have one root cause.
//!
//! Records are input, and hostile as any: damage is an error, memory grows with what is read and
//! with nothing that it promises, and time with it.

pub mod changes;
pub mod compare;
pub mod groups;
pub mod report;
mod shape;

pub use compare::{Comparison, When};
pub use groups::Groups;
pub use sframe_record::Record;
