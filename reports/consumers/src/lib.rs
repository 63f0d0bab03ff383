//! Profiles of the programs that read SFrame sections: the C library, kernels, libraries, linkers and profilers.
//!
//! A profile predicts what its consumer does with a section: whether it opens it, which row it finds at a PC, how it
//! decodes that row, and what happens if it cannot. Profiles include the consumers' faults. [`assess`] compares a
//! consumer's answers with the specification's at every PC.
//!
//! ```
//! use sframe_consumers::{Input, Verdict, assess, named};
//! use sframe_validator::Abi;
//!
//! let bytes: &[u8] = &[
//!     0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0, // magic, version 2, sorted, AMD64, fixed RA offset -8
//!     1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, // 1 function, 1 row, 3 bytes of rows
//!     0, 0, 0, 0, 20, 0, 0, 0, // functions at 0, rows at 20 after the header
//!     0, 0x10, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, // the function
//!     0, 0x03, 8, // the row: at +0, one 1-byte word, base SP
//! ];
//! let input = Input::new(bytes, 0x40_0000, Abi::Amd64);
//! let verdict = |name| assess(&input, named(name)[0]).verdict;
//! assert_eq!(verdict("glibc-2.43"), Verdict::Accept);
//! assert_eq!(verdict("linux-user-v3"), Verdict::Ignore);
//! // It takes the words for wider ones, and loses the row.
//! assert_eq!(verdict("java-profiler"), Verdict::Ignore);
//! ```

#![forbid(unsafe_code)]

mod answer;
mod assess;
mod bytes;
mod consumer;
mod describe;
mod frames;
mod header;
mod index;
mod input;
mod library;
mod linux;
mod page;
mod profile;
mod relocated;
mod rows;
mod table;

pub use answer::{Answer, Found, Stop, StopKind};
pub use assess::{
    Assessment, Assessor, Bytes as PcBytes, Example, Functions, Kind, Verdict, assess,
};
pub use consumer::{Consumer, Lookups, Objects, Opening, Places, Reader};
pub use describe::describe;
pub use input::Input;
pub use page::{Basis, Fault, Page, Statement, Subject};
pub use profile::{UnknownConsumer, named, other_releases, profiles, select};
pub use relocated::{Relocated, is_module};
