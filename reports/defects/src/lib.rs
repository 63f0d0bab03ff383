//! Known defects of the producers of SFrame sections.
//!
//! Assemblers, linkers and C libraries make mistakes that each user of them meets. Each [`Defect`] here was judged by hand:
//! `corpus/differences/` and `corpus/NOTES.md` have the inputs and the proofs. [`RowDefects`] names the defects of rows, while
//! they are compared with CFI. [`recognise`] names the defect that another finding is a case of, and who has to act on each;
//! [`Evidence`] does so with a look at the file.
//!
//! ```
//! let defect = sframe_defects::find("ld-plt-got").expect("a known defect");
//! assert_eq!(defect.affected(), "GNU ld 2.44 to 2.47.50");
//! ```

#![forbid(unsafe_code)]

mod case;
mod defect;
mod evidence;
mod frame_code;
mod known;
mod owner;
mod recognise;
mod rows;
mod signs;
mod start_code;
mod tool;
mod traits;
mod useless;

pub use defect::{Affected, Defect};
pub use evidence::Evidence;
pub use owner::depends_on_origin;
pub use recognise::{Recogniser, recognise, recognise_one, trait_of};
pub use rows::RowDefects;
pub use signs::Extent;
pub use tool::{NoProducer, Producer};
pub use traits::Traits;
pub use useless::Found;

/// All known defects, by producer.
pub fn all() -> impl Iterator<Item = &'static Defect> {
    known::ALL.into_iter().flatten().copied()
}

/// The defect with this identifier.
#[must_use]
pub fn find(id: &str) -> Option<&'static Defect> {
    all().find(|defect| defect.id == id)
}
