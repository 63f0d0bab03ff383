//! From what a check found to a [`Record`](sframe_record::Record): names, the bytes around a defect,
//! the tables of rows and the instructions where SFrame and CFI differ.

mod checked;
mod content;
mod context;
mod coverage;
pub(crate) mod evidence;
mod names;
mod producers;
pub(crate) mod rows;
mod tables;
pub(crate) mod weight;

pub use checked::{Comparison, Located, checked};
pub use content::Content;
pub use context::context;
pub use coverage::{coverage, undecided};
pub use evidence::Gatherer;
pub use names::{Names, SymbolPlace};
pub use producers::{producer, producers};
pub use tables::Tables;
