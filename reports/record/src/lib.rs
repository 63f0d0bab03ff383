//! What all reports share: names from input made safe to print, numbers as people read them, and
//! the head of every JSON document.

#![forbid(unsafe_code)]

pub mod json;
pub mod numbers;
pub mod text;
