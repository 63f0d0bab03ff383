//! What a scan says about a file, a member of an archive, or a member of a package: one [`Record`].
//! What a scan says about all of them together: one [`Summary`].
//!
//! A scan makes records. Every renderer writes them, a store keeps them, and whoever compares scans
//! reads them again. There is no second model. In JSON, names are words that do not change within a
//! [version of the format](json::FORMAT), and a reader skips fields that it does not know.
//!
//! The crate also has what all reports need to write records: the names of [all rules](catalogue),
//! [numbers] as people read them, [names](text) from input made safe to print, and the head of
//! every [JSON](json) document.

#![forbid(unsafe_code)]

mod bounded;
pub mod catalogue;
mod coverage;
mod finding;
pub mod json;
mod name;
pub mod numbers;
mod record;
mod severity;
mod summary;
pub mod text;
mod value;

pub use coverage::{
    Coverage, CoverageTotal, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts,
};
pub use finding::{
    Code, Difference, Field, Finding, Function, Instruction, Part, Side, Similar, TableLine,
};
pub use name::FileName;
pub use record::{
    Content, Header, Package, Producer, Record, RuleCount, Section, Status, Undecided,
};
pub use severity::Severity;
pub use summary::{KindCount, SectionCount, Summary};
pub use value::{Address, Text};
