//! Fields of the format: their places in the section and the specification's names.
//!
//! The constants are the fields of the preamble and the header, which are the same in every version.

/// A field's place and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// The offset in bytes from the start of the section.
    pub offset: u64,
    /// The size of the field in bytes.
    pub size: u64,
    /// The specification's name.
    pub name: &'static str,
}

impl FieldPlace {
    pub(super) const fn new(offset: u64, size: u64, name: &'static str) -> FieldPlace {
        FieldPlace { offset, size, name }
    }
}

/// `sfp_magic`.
pub const MAGIC: FieldPlace = FieldPlace { offset: 0, size: 2, name: "sfp_magic" };
/// `sfp_version`.
pub const VERSION: FieldPlace = FieldPlace { offset: 2, size: 1, name: "sfp_version" };
/// `sfp_flags`.
pub const FLAGS: FieldPlace = FieldPlace { offset: 3, size: 1, name: "sfp_flags" };
/// `sfh_abi_arch`.
pub const ABI_ARCH: FieldPlace = FieldPlace { offset: 4, size: 1, name: "sfh_abi_arch" };
/// `sfh_cfa_fixed_fp_offset`.
pub const FIXED_FP: FieldPlace = FieldPlace { offset: 5, size: 1, name: "sfh_cfa_fixed_fp_offset" };
/// `sfh_cfa_fixed_ra_offset`.
pub const FIXED_RA: FieldPlace = FieldPlace { offset: 6, size: 1, name: "sfh_cfa_fixed_ra_offset" };
/// `sfh_auxhdr_len`.
pub const AUXHDR_LEN: FieldPlace = FieldPlace { offset: 7, size: 1, name: "sfh_auxhdr_len" };
/// `sfh_num_fdes`.
pub const NUM_FDES: FieldPlace = FieldPlace { offset: 8, size: 4, name: "sfh_num_fdes" };
/// `sfh_num_fres`.
pub const NUM_FRES: FieldPlace = FieldPlace { offset: 12, size: 4, name: "sfh_num_fres" };
/// `sfh_fre_len`.
pub const FRE_LEN: FieldPlace = FieldPlace { offset: 16, size: 4, name: "sfh_fre_len" };
/// `sfh_fdeoff`.
pub const FDEOFF: FieldPlace = FieldPlace { offset: 20, size: 4, name: "sfh_fdeoff" };
/// `sfh_freoff`.
pub const FREOFF: FieldPlace = FieldPlace { offset: 24, size: 4, name: "sfh_freoff" };
