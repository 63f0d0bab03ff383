//! What a check found, as every renderer reads it: one [`FileReport`] for a file or an archive's
//! member, one [`Summary`] for a scan.

mod context;
mod file;
mod summary;

pub use context::{Context, Part};
pub use file::{Checked, FileName, FileReport, LocatedFinding, Outcome, SymbolPlace};
pub use summary::{Counts, Summary};
