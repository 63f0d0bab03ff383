//! What a check found, as every renderer reads it: one [`FileReport`] for a file or an archive's
//! member, one [`Summary`] for a scan.

mod context;
mod coverage;
pub(crate) mod evidence;
mod file;
mod names;
mod producers;
#[cfg(feature = "store")]
mod recorded;
pub(crate) mod rows;
mod summary;
mod tables;
mod weight;

pub use context::{Context, Part};
pub use coverage::{Coverage, CoverageTotals, Example, Extent, Files, Limit, Loss};
pub use evidence::{Evidence, Gatherer};
pub use file::{Checked, Comparison, Content, FileName, FileReport, LocatedFinding, Outcome};
pub use names::{Names, SymbolPlace};
pub use producers::{Producer, ProducerKind};
pub use summary::{Counts, Summary};
pub use tables::{Cells, Line, Side, Tables};
