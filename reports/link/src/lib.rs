//! The link audit: which inputs of a link carry SFrame, what the linker will do with it, which code of the output will
//! have none and why, and what to do.
//!
//! [`Audit::of_inputs`] takes the arguments of a linker, [`Audit::of_command`] those of a compiler driver. Nothing is
//! linked.
//!
//! ```
//! use sframe_link::{Audit, Linker, Outcome};
//!
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/golden");
//! let inputs = ["2.44/x86_64/leaf.o", "2.47.50/x86_64/calls.o"];
//! let arguments: Vec<_> = inputs.iter().map(|input| format!("{folder}/{input}").into()).collect();
//! let audit = Audit::of_inputs(Linker::Ld247, &arguments);
//! assert_eq!(audit.prediction.outcome, Outcome::Part);
//! assert!(audit.prediction.messages[0].contains("unexpected SFrame section type"));
//! ```

#![forbid(unsafe_code)]

mod arguments;
mod audit;
mod driver;
mod input;
pub mod json;
mod linker;
mod load;
pub mod messages;
mod model;
mod object;
mod obstacle;
mod options;
mod remedy;
mod script;
mod text;
mod uncovered;

pub use audit::{Audit, Status};
pub use driver::{DriverError, Ends};
pub use input::{
    Group, Header, Input, InputKind, MemberName, Misread, References, SectionType, Sframe,
};
pub use linker::{Identity, Linker, UnknownLinker};
pub use model::{Fate, Link, Outcome, OutputSection, Prediction};
pub use obstacle::{Obstacle, ObstacleKind};
pub use options::{Moved, Options, Output};
pub use remedy::Remedy;
pub use uncovered::{Coverage, Reason, Uncovered};
