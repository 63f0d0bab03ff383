//! Reports of SFrame scans for a browser: one HTML file, which needs no network.
//!
//! [`Report`] collects the records of a scan; [`write_changes`] writes a comparison of two scans. The figures of the scan are HTML.
//! Everything that may be long is data in the page, from which its scripts make the rows that are in view.
//!
//! Names and messages come from untrusted files. They are embedded as JSON without any character of markup, and shown
//! as text. The page's policy lets the browser run nothing but the page's own scripts.

#![forbid(unsafe_code)]

mod causes;
mod changes;
mod details;
mod embed;
mod evidence;
mod history;
mod mood;
mod overview;
mod page;
mod report;
mod strings;

pub use changes::write as write_changes;
pub use report::Report;
