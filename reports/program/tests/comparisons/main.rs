//! Comparisons of scans that the program has made, and the root causes of their findings.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod properties;
mod reading;
mod rebuilt;
mod rendering;
mod scans;
mod verdicts;
