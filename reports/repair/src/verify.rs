//! Checks the result: it breaks no rule that the input does not break, and agrees with CFI as much as the input's
//! sections do.

use std::collections::HashSet;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Sums, compare};
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::Elf;
use sframe_validator::finding::Report;
use sframe_validator::section::StartRelocation;
use sframe_validator::{Placement, Section};

use crate::change::Loss;
use crate::error::RepairError;
use crate::parts::{Part, Start};
use crate::place::File;

/// Checks the file `after`, which was made from the parts of the file `before`.
pub(crate) fn verify(
    before: &File<'_>,
    parts: &[Part<'_>],
    after: &[u8],
    lost: &[Loss],
) -> Result<(), RepairError> {
    let repaired = Elf::parse(after)?;
    check_findings(before, parts, &repaired)?;
    let old = of_parts(before.elf, before.cfi, parts)?;
    let new = of_file(&repaired, before.cfi)?;
    let is_equal = old == new;
    let is_worse = new.different > old.different || new.undecided > old.undecided;
    let is_smaller = lost.iter().any(|loss| !matches!(loss, Loss::NoSegment(_)));
    match is_equal || is_smaller && !is_worse {
        true => Ok(()),
        false => Err(RepairError::NewDifference { before: old.different, after: new.different }),
    }
}

/// Each rule that the result breaks must be broken by the input as well, or by one of its parts on its own: a check of the
/// input ends where the first part ends.
fn check_findings(
    before: &File<'_>,
    parts: &[Part<'_>],
    after: &Elf<'_>,
) -> Result<(), RepairError> {
    let options = Options::default();
    let names = |report: &Report| -> Vec<&'static str> {
        report.findings.iter().map(|finding| finding.rule.name).collect()
    };
    let mut allowed: HashSet<&str> =
        names(&Checker::new(&options).elf(before.elf)).into_iter().collect();
    for part in parts {
        let at = Placement::at(before.place.header.address.wrapping_add(part.offset));
        allowed.extend(names(
            &Checker::new(&options).section(part.data, at.with_abi(before.elf.abi())),
        ));
    }
    let report = Checker::new(&options).elf(after);
    match report.findings.iter().find(|finding| !allowed.contains(finding.rule.name)) {
        None => Ok(()),
        Some(new) => {
            Err(RepairError::NewFinding { rule: new.rule.name, message: new.message.clone() })
        }
    }
}

/// Compares the parts with CFI, with the starts that were decided.
fn of_parts(elf: &Elf<'_>, cfi: &[Cfi<'_>], parts: &[Part<'_>]) -> Result<Sums, RepairError> {
    let starts: Vec<Vec<StartRelocation>> = parts.iter().map(starts).collect();
    let mut sections = Vec::new();
    for (part, starts) in parts.iter().zip(&starts) {
        let placement = Placement::relocated(starts).with_abi(elf.abi());
        let unreadable = |_| RepairError::UnreadableHeader { offset: part.offset };
        sections.push(Section::parse(part.data, placement).map_err(unreadable)?);
    }
    Ok(compare(elf, &sections, cfi, |_| {}).bytes)
}

fn starts(part: &Part<'_>) -> Vec<StartRelocation> {
    let of_function = |(index, start): (usize, &Option<Start>)| StartRelocation {
        field_offset: part.stored.entry_offset(index),
        target: start.map(|start| start.place),
    };
    part.starts.iter().enumerate().map(of_function).collect()
}

/// Compares the section of a file with CFI.
fn of_file(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Sums, RepairError> {
    let contents: Vec<_> = elf.sframe_contents().collect();
    let mut sections = Vec::new();
    for sframe in &contents {
        let placement = sframe.placement()?.with_abi(elf.abi());
        let data = sframe.data?;
        if !data.is_empty() {
            let unreadable = |_| RepairError::UnreadableHeader { offset: 0 };
            sections.push(Section::parse(data, placement).map_err(unreadable)?);
        }
    }
    Ok(compare(elf, &sections, cfi, |_| {}).bytes)
}

#[cfg(test)]
mod tests {
    use sframe_corpus::read;
    use sframe_oracle::cfi::Cfi;
    use sframe_validator::elf::Elf;

    use super::verify;
    use crate::code::Known;
    use crate::error::RepairError;
    use crate::place::{File, Place};
    use crate::{parts, starts};

    /// Verifies the file after a change of one byte at an offset from the section's end or start.
    fn verified(change: impl FnOnce(&mut [u8])) -> Result<(), RepairError> {
        let file = read("golden/gold/x86_64/v2-static.exe");
        let mut after = crate::repair(&file)?.bytes;
        let range = {
            let elf = Elf::parse(&after)?;
            let section = elf.sframe_sections().next().expect("a section");
            let start = usize::try_from(section.offset).expect("small");
            start..start + usize::try_from(section.size).expect("small")
        };
        change(after.get_mut(range).expect("inside"));
        let elf = Elf::parse(&file)?;
        let (cfi, place) = (Cfi::load_all(&elf)?, Place::of(&elf)?);
        let (mut parts, _) = parts::split(place.data, place.header.address)?;
        let known = Known::of(&elf, &cfi)?;
        starts::decide(&known, &mut parts, &mut Vec::new())?;
        verify(&File { elf: &elf, cfi: &cfi, place: &place, known: &known }, &parts, &after, &[])
    }

    #[test]
    fn a_wrong_row_is_found() {
        assert_eq!(verified(|_| ()), Ok(()));
        // The last byte is the CFA's offset in the last row.
        let wrong = verified(|section| *section.last_mut().expect("a byte") ^= 0x40);
        assert!(matches!(wrong, Err(RepairError::NewDifference { .. })), "{wrong:?}");
    }

    #[test]
    fn a_wrong_function_is_found() {
        // The start field of the first of 27 functions, in the table after a header of 28 bytes.
        let wrong = verified(|section| *section.get_mut(28).expect("a byte") ^= 0x1);
        assert!(wrong.is_err(), "{wrong:?}");
        let unsorted =
            verified(|section| section.get_mut(28..68).expect("two entries").rotate_left(20));
        assert!(
            matches!(unsorted, Err(RepairError::NewFinding { rule: "function-order", .. })),
            "{unsorted:?}"
        );
    }
}
