//! Defects of the content of rows: their data words.

use sframe_validator::section::FdeType;
use sframe_validator::{Abi, Version};

use crate::{Defect, any_row, when};
use sframe_validator::write::{StoredFunction, StoredRow};

fn default(function: &StoredFunction, row: &StoredRow) -> bool {
    function.fde_type() == FdeType::Default && !row.words.is_empty()
}

fn flexible(function: &StoredFunction, row: &StoredRow) -> bool {
    function.fde_type() == FdeType::Flex && !row.words.is_empty()
}

/// The indexes of control words in a flexible row.
const fn controls(row: &StoredRow) -> &'static [usize] {
    match row.words.len() {
        2 => &[0],
        4 => &[0, 2],
        5 => &[0, 3],
        6 => &[0, 2, 4],
        _ => &[],
    }
}

/// The index of a control word, other than the CFA's, that is based on the CFA and loads from memory.
fn at_cfa(row: &StoredRow) -> Option<usize> {
    controls(row).iter().copied().find(|at| *at > 0 && row.words[*at] & 3 == 2)
}

/// The index of FP's word in a default row.
const fn fp_word(abi: Abi) -> usize {
    match abi {
        Abi::Amd64 => 1,
        Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => 2,
    }
}

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        name: "more data words than have a meaning",
        noticed_by: &["word-count"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, default)?;
            row.words.resize(4 + random.below(12), 0x42);
            Some(())
        },
    },
    Defect {
        name: "no data words in version 1",
        noticed_by: &["word-count"],
        apply: |parts, random| {
            when(parts.version == Version::V1)?;
            any_row(parts, random, default)?.0.words.clear();
            Some(())
        },
    },
    Defect {
        name: "a number of data words that is not made of pairs",
        noticed_by: &["flex-word-count"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, flexible)?;
            let count = [1, 3, 7, 8, 12, 15][random.below(6)];
            row.words.resize(count, 0x42);
            Some(())
        },
    },
    Defect {
        name: "control words that do not match the number of words",
        noticed_by: &["flex-layout"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, |f, r| flexible(f, r) && r.words.len() > 2)?;
            match row.words.len() {
                5 => row.words[2] = 2,
                6 if random.below(2) == 0 => row.words[4] = 0,
                _ => row.words[2] = 0,
            }
            Some(())
        },
    },
    Defect {
        name: "a CFA based on itself",
        noticed_by: &["flex-cfa-base"],
        apply: |parts, random| {
            any_row(parts, random, flexible)?.0.words[0] &= !1;
            Some(())
        },
    },
    Defect {
        name: "the unused bit of a control word",
        noticed_by: &["flex-control-reserved"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, flexible)?;
            let controls = controls(row);
            row.words[*controls.get(random.below(controls.len().max(1)))?] |= 4;
            Some(())
        },
    },
    Defect {
        name: "a register that the machine does not have",
        noticed_by: &["flex-register"],
        apply: |parts, random| {
            let register = if parts.abi == Abi::Amd64 { 16 + random.below(114) } else { 32 };
            let (row, _) = any_row(parts, random, flexible)?;
            row.widen(FdeType::Flex, 2);
            row.words[0] = row.words[0] & 7 | (register as u32) << 3;
            Some(())
        },
    },
    Defect {
        name: "a register in a control word that does not use it",
        noticed_by: &["flex-unused-register"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, |f, r| flexible(f, r) && at_cfa(r).is_some())?;
            let at = at_cfa(row)?;
            row.words[at] |= 1 << (3 + random.below(5));
            Some(())
        },
    },
    Defect {
        name: "an address in the frame for a register",
        noticed_by: &["flex-not-loaded"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, |f, r| flexible(f, r) && at_cfa(r).is_some())?;
            let at = at_cfa(row)?;
            row.words[at] = 8;
            Some(())
        },
    },
    Defect {
        name: "a CFA loaded through SP",
        noticed_by: &["flex-sp-loaded"],
        apply: |parts, random| {
            let sp = parts.abi.sp().0;
            any_row(parts, random, flexible)?.0.words[0] = sp << 3 | 3;
            Some(())
        },
    },
    Defect {
        name: "a signed return address on a machine without signing",
        noticed_by: &["mangled-ra"],
        apply: |parts, random| {
            when(!parts.abi.is_aarch64())?;
            any_row(parts, random, |_, _| true)?.0.mangled = true;
            Some(())
        },
    },
    Defect {
        name: "padding for RA that nothing follows",
        noticed_by: &["ra-padding-unneeded"],
        apply: |parts, random| {
            when(parts.abi == Abi::S390x)?;
            let (row, _) = any_row(parts, random, default)?;
            row.words.resize(2, 0);
            row.words[1] = 0;
            Some(())
        },
    },
    Defect {
        name: "a register in a default row of version 3",
        noticed_by: &["register-in-default-row"],
        apply: |parts, random| {
            when(parts.abi == Abi::S390x && parts.version == Version::V3)?;
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.words.len() > 1)?;
            row.words[1] |= 1;
            Some(())
        },
    },
    Defect {
        name: "a register that s390x does not have",
        noticed_by: &["register-number"],
        apply: |parts, random| {
            when(parts.abi == Abi::S390x && parts.version == Version::V2)?;
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.words.len() > 1)?;
            row.words[1] = 65;
            Some(())
        },
    },
    Defect {
        name: "a CFA below the stack pointer",
        noticed_by: &["cfa-offset-low"],
        apply: |parts, random| {
            let unit = if parts.abi.is_aarch64() { 16 } else { 8 };
            // s390x stores (offset - 160) / 8.
            let unit = if parts.abi == Abi::S390x { 1 } else { unit };
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.base_sp)?;
            row.set_signed(0, -unit * (1 + random.below(8) as i32));
            Some(())
        },
    },
    Defect {
        name: "an unaligned CFA",
        noticed_by: &["cfa-alignment"],
        apply: |parts, random| {
            when(parts.abi != Abi::S390x)?;
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.base_sp)?;
            row.set_signed(0, row.signed(0)? / 16 * 16 + 1 + random.below(7) as i32);
            Some(())
        },
    },
    Defect {
        name: "an unaligned slot",
        noticed_by: &["slot-alignment"],
        apply: |parts, random| {
            let word = fp_word(parts.abi);
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.words.len() > word)?;
            // The value is even, because odd words are registers on s390x.
            row.set_signed(word, -26);
            Some(())
        },
    },
    Defect {
        name: "a slot outside the frame",
        noticed_by: &["slot-outside-frame"],
        apply: |parts, random| {
            let word = fp_word(parts.abi);
            let (row, _) = any_row(parts, random, |f, r| default(f, r) && r.words.len() > word)?;
            row.set_signed(word, 8 * (1 + random.below(15) as i32));
            Some(())
        },
    },
    Defect {
        name: "an FP that is used and not recovered",
        noticed_by: &["fp-lost"],
        apply: |parts, random| {
            let word = fp_word(parts.abi);
            let by_fp = |f: &StoredFunction, r: &StoredRow| default(f, r) && !r.base_sp;
            let (row, _) = any_row(parts, random, |f, r| by_fp(f, r) && r.words.len() > word)?;
            row.words.truncate(word);
            Some(())
        },
    },
];
