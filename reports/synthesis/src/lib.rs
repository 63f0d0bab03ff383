//! SFrame sections made from the call frame information (CFI) of an ELF file, in memory.

#![forbid(unsafe_code)]

mod account;
mod encode;
mod forecast;
mod gnu;
mod measure;
mod model;
mod place;
mod smallest;
mod source;
mod stubs;
mod synthesis;
mod tally;

pub use account::{Account, Parts, account_of};
pub use forecast::{Forecast, Sizes, forecast};
pub use gnu::Release;
pub use model::{Function, Loss};
pub use place::{Place, Written};
pub use synthesis::{Encoding, Synthesis, SynthesisError, synthesize};
