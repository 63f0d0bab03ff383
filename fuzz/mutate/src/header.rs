//! Defects of the preamble and of the header's fields about the kind of section.

use sframe_validator::section::{Flags, MAGIC};
use sframe_validator::{Endian, Version};

use crate::{Defect, when};

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        name: "another magic number",
        noticed_by: &["bad-magic"],
        apply: |parts, random| {
            let magic = random.next() as u16;
            parts.header.magic = magic;
            when(magic != MAGIC && magic != MAGIC.swap_bytes())
        },
    },
    Defect {
        name: "a version that does not exist",
        noticed_by: &["unknown-version"],
        apply: |parts, random| {
            parts.header.version = random.next() as u8;
            when(!matches!(parts.header.version, 1..=3))
        },
    },
    Defect {
        name: "the other byte order",
        noticed_by: &["foreign-endian"],
        apply: |parts, _| {
            parts.endian = match parts.endian {
                Endian::Little => Endian::Big,
                Endian::Big => Endian::Little,
            };
            Some(())
        },
    },
    Defect {
        name: "a flag that the version does not define",
        noticed_by: &["reserved-flags"],
        apply: |parts, random| {
            let defined = parts.version.defined_flags() | Flags::FRAME_POINTER;
            let flag = 1 << random.below(8);
            parts.header.flags |= flag;
            when(flag & defined == 0)
        },
    },
    Defect {
        name: "the frame-pointer flag",
        noticed_by: &["frame-pointer-flag", "frame-pointer-claim"],
        apply: |parts, _| {
            parts.header.flags |= Flags::FRAME_POINTER;
            Some(())
        },
    },
    Defect {
        name: "version 3 without the PC-relative flag",
        noticed_by: &["pcrel-flag-missing"],
        apply: |parts, _| {
            parts.header.flags &= !Flags::PCREL;
            when(parts.version == Version::V3)
        },
    },
    Defect {
        name: "an ABI that the version does not define",
        noticed_by: &["unknown-abi"],
        apply: |parts, random| {
            let last = if parts.version == Version::V1 { 3 } else { 4 };
            parts.header.abi_arch = random.next() as u8;
            when(!(1..=last).contains(&parts.header.abi_arch))
        },
    },
    Defect {
        name: "another fixed RA offset",
        noticed_by: &["fixed-ra-offset"],
        apply: |parts, random| {
            let before = parts.header.cfa_fixed_ra_offset;
            parts.header.cfa_fixed_ra_offset = (random.next() as u8).cast_signed();
            when(parts.header.cfa_fixed_ra_offset != before)
        },
    },
    Defect {
        name: "a fixed FP offset",
        noticed_by: &["fixed-fp-offset"],
        apply: |parts, random| {
            parts.header.cfa_fixed_fp_offset = (random.next() as u8).cast_signed();
            when(parts.header.cfa_fixed_fp_offset != 0)
        },
    },
];
