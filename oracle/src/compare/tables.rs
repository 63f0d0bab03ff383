//! What is compared: the tables of a file.

use sframe_validator::Section;
use sframe_validator::elf::Elf;

use crate::cfi::Cfi;

/// A file and the tables that describe its code, all of which must belong to it.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'t, 'c> {
    pub(crate) elf: &'t Elf<'t>,
    /// Its SFrame sections.
    pub(crate) sections: &'t [Section<'t>],
    /// Its sections of call frame information, of which the first that describes a place is used.
    pub(crate) cfi: &'c [Cfi<'c>],
}
