//! The results of a scan: one [`Record`] for each file, archive member or package member, and one [`Summary`] of all
//! records.
//!
//! A scan produces records. Renderers write them, stores keep them, and comparisons of scans read them again; there is
//! no second model. In JSON, identifiers do not change within a [version of the format](json::FORMAT), and readers
//! ignore fields that they do not know.
//!
//! The crate also contains what all reports need to write records: the [catalogue] of rules, the formatting
//! of [numbers], conversion of [names](text) from the input into printable text, and the head of every [JSON](json)
//! document.

#![forbid(unsafe_code)]

pub mod advice;
mod bounded;
mod call_sites;
pub mod catalogue;
mod consequence;
mod coverage;
mod demangle;
mod elf_type;
mod events;
mod finding;
pub mod forecast;
mod frame;
mod instruction;
pub mod json;
pub mod markdown;
mod name;
pub mod ndjson;
pub mod numbers;
mod origin;
mod owner;
mod package;
mod packages;
pub mod pages;
mod proofs;
mod reading;
mod record;
mod ruling;
mod severity;
mod summary;
mod table;
pub mod text;
mod unwind_table;
mod value;
mod why;

pub use call_sites::packages::PackageCallSites;
pub use call_sites::{CallSiteTotal, CallSites, SiteCounts};
pub use consequence::{Consequence, Weight};
pub use coverage::{
    Coverage, CoverageTotal, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts, WithoutEntry,
};
pub use demangle::{SymbolNames, demangle};
pub use elf_type::ElfType;
pub use events::{Events, Tail};
pub use finding::{
    Code, Difference, Directive, Field, Finding, Function, Part, Side, Similar, SourceLine,
    TableLine,
};
pub use forecast::packages::PackageForecasts;
pub use forecast::{Forecast, ForecastTotal, Parts, Predicted, Sizes};
pub use frame::{KnownFrame, PrintedFrame};
pub use instruction::Instruction;
pub use name::FileName;
pub use origin::{Compiler, Origin, OriginKind, ShownBy};
pub use owner::Owner;
pub use package::Package;
pub use packages::{PackageSum, PackageSums};
pub use pages::Pages;
pub use proofs::{ProofBytes, ProofTotal, Proofs, UnprovenBytes};
pub use reading::{
    NotAccepted, Outcome, OutcomeCount, ReadBytes, ReadExample, ReadFunctions, Reading,
    ReadingTotal,
};
pub use record::{
    Content, Header, Producer, Record, RuleCount, Section, Status, Suppressed, Undecided,
};
pub use ruling::{Proof, Ruling, with_ruling};
pub use severity::Severity;
pub use sframe_oracle::code::Unproven;
pub use sframe_oracle::compare::Wrong;
pub use sframe_validator::finding::UndecidedCause;
pub use sframe_validator::rules::Group;
pub use summary::{
    FailedGate, GroupCount, KindCount, LINKED, SectionCount, Summary, SuppressedCount,
};
pub use table::{Line, Table};
pub use unwind_table::UnwindTable;
pub use value::{Address, Text};
pub use why::{
    ArrivalKind, CodeStatement, JoinedWay, KnownRegister, LeftOut, Lost, Why, WhyLine, WhyStep,
};
