//! Makes a [`Record`](sframe_record::Record) of a check's findings: adds names, the bytes around a defect, and the
//! tables of rows and instructions where SFrame and CFI differ.

mod checked;
mod content;
mod context;
mod coverage;
mod directives;
mod elf_type;
pub(crate) mod evidence;
pub mod forecast;
mod instructions;
mod names;
pub(crate) mod origin;
mod producers;
mod proofs;
pub(crate) mod readings;
pub(crate) mod rows;
pub(crate) mod source_lines;
mod tables;
mod ways;
pub(crate) mod weight;
mod why;

pub use checked::{Comparison, Located, checked};
pub use content::Content;
pub use context::context;
pub use coverage::{coverage, undecided};
pub(crate) use elf_type::elf_type;
pub use evidence::{Gathered, Gatherer};
pub use instructions::{code, instruction_at, instruction_to_blame};
pub use names::{Names, SymbolPlace};
pub use producers::{producer, producers};
pub use proofs::proofs;
pub use rows::RowReader;
pub use source_lines::{DebugSections, SourceLines};
pub use tables::Tables;
pub use ways::Ways;
pub use why::{clause_about_registers, clause_against, why};
