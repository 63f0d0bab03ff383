//! The detection experiment: flips every bit of a file's SFrame section, one at a time, sets every byte to 0x00 and to
//! 0xff, and records which of these changes are detected.
//!
//! A rule may detect the change, or the comparison with the file's CFI. Some changes are invisible to readers,
//! because the row of every PC stays the same. All other changes are listed by field.

mod fields;
mod readers;

use std::collections::BTreeMap;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::amd64_instruction_length;
use sframe_oracle::compare::{Verdict, compare};
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::finding::Keep;
use sframe_validator::rules::Severity;
use sframe_validator::{Abi, Placement, Section, Version};

use crate::view;
use fields::field_names;
pub use readers::{BATCH, ByteChange, OtherReader, Reaction, other_readers};

/// The first of these, in this order, that detected a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    /// A rule at error level.
    Error,
    /// A rule at warning level.
    Warning,
    /// The check reports something as undecided.
    Undecided,
    /// The comparison with CFI.
    Comparison,
    /// A rule at lint level.
    Lint,
    /// Nothing, but readers see the same row at every PC.
    Invisible,
    /// Nothing: the comparison reports the row both before and after the change.
    Before,
    /// Nothing, although a reader sees another row.
    Nobody,
}

impl Noticed {
    /// All values, in order.
    pub const ALL: [Noticed; 8] = [
        Noticed::Error,
        Noticed::Warning,
        Noticed::Undecided,
        Noticed::Comparison,
        Noticed::Lint,
        Noticed::Invisible,
        Noticed::Before,
        Noticed::Nobody,
    ];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Noticed::Error => "error",
            Noticed::Warning => "warning",
            Noticed::Undecided => "undecided",
            Noticed::Comparison => "CFI",
            Noticed::Lint => "lint",
            Noticed::Invisible => "invisible",
            Noticed::Before => "before",
            Noticed::Nobody => "rest",
        }
    }
}

/// One change of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'f> {
    /// Section offset of the byte.
    pub offset: usize,
    /// The field it belongs to, by the specification's name.
    pub field: &'f str,
    /// The value before and after.
    pub values: (u8, u8),
    /// How the value was changed.
    pub kind: ChangeKind,
}

/// How a byte is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A bit is flipped.
    Flip,
    /// The byte is set to 0x00 or 0xff.
    Set,
}

/// The kind of section that a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The version.
    pub version: Version,
    /// The machine.
    pub abi: Abi,
    /// File offset of the section.
    pub offset: u64,
    /// Whether the file has CFI to compare with.
    pub has_cfi: bool,
}

/// The results of the check and the comparison for a file.
#[derive(Debug, PartialEq, Eq)]
struct Results {
    counts: BTreeMap<&'static str, (Severity, u64)>,
    undecided: Vec<String>,
    /// Ranges of PCs, and their verdicts.
    verdicts: Vec<(u32, u64, u64, Verdict)>,
}

fn results(file: &[u8], placement: Placement<'_>, data: &[u8]) -> Option<Results> {
    let elf = Elf::parse(file).ok()?;
    let options = Options { pedantic: true, keep: Keep::First(0), ..Options::default() };
    let report = Checker::new(&options).amd64_instructions(amd64_instruction_length).elf(&elf);
    let counts = report.counts.iter().map(|(rule, count)| (rule.name, (rule.severity, *count)));
    let sections: Vec<_> = Section::parse(data, placement).into_iter().collect();
    let cfi = Cfi::load_all(&elf).ok()?;
    let mut verdicts = Vec::new();
    compare(&elf, &sections, &cfi, |range| {
        verdicts.push((range.section, range.start, range.end, range.verdict));
    });
    Some(Results {
        counts: counts.collect(),
        undecided: report.undecided.into_iter().map(|undecided| undecided.reason).collect(),
        verdicts,
    })
}

impl Results {
    /// The severest rule that is broken more often than `before`.
    fn worse_than(&self, before: &Results) -> Option<Severity> {
        let more = self.counts.iter().filter(|(name, (_, count))| {
            before.counts.get(*name).is_none_or(|(_, before)| before < count)
        });
        more.map(|(_, (severity, _))| *severity).max()
    }
}

/// Makes each change to the only SFrame section of a linked file, and passes the result to `sink`. Returns `None` if
/// there is no such section, if it cannot be read, or if the file already breaks a rule at error level, so that much
/// of the section is not checked.
pub fn experiment(file: &[u8], mut sink: impl FnMut(Change<'_>, Noticed)) -> Option<Subject> {
    let elf = Elf::parse(file).ok()?;
    let mut headers = elf.sframe_sections();
    let (header, None) = (*headers.next()?, headers.next()) else { return None };
    if elf.kind() == ElfKind::Relocatable || elf.section_data(&header).ok()?.is_empty() {
        return None;
    }
    let start = usize::try_from(header.offset).ok()?;
    let end = start + elf.section_data(&header).ok()?.len();
    let placement =
        Placement::at(header.address).with_abi(elf.abi()).with_endian(Some(elf.endian()));
    let sound = file.get(start..end)?;
    let section = Section::parse(sound, placement).ok()?;
    let names = field_names(&section);
    let before = results(file, placement, sound)?;
    if before.counts.values().any(|(severity, _)| *severity == Severity::Error) {
        return None;
    }
    let mut changed = file.to_vec();
    for (offset, field) in names.iter().enumerate() {
        let old = sound[offset];
        let flips = (0..8).map(|bit| (old ^ (1 << bit), ChangeKind::Flip));
        let sets = [0, 0xff].into_iter().filter(|new| *new != old);
        let sets = sets.map(|new| (new, ChangeKind::Set));
        for (new, kind) in flips.chain(sets) {
            changed[start + offset] = new;
            let noticed = notice(&changed, (start, end), placement, &before, &section);
            sink(Change { offset, field, values: (old, new), kind }, noticed);
        }
        changed[start + offset] = old;
    }
    let has_cfi = Cfi::load_all(&elf).is_ok_and(|cfi| cfi.iter().any(|cfi| !cfi.is_empty()));
    let version = section.header().version;
    Some(Subject { version, abi: section.abi().ok()?, offset: header.offset, has_cfi })
}

fn notice(
    file: &[u8],
    (start, end): (usize, usize),
    placement: Placement<'_>,
    before: &Results,
    section: &Section<'_>,
) -> Noticed {
    let data = &file[start..end];
    let after = results(file, placement, data).expect("the file's headers have not changed");
    match after.worse_than(before) {
        Some(Severity::Error) => return Noticed::Error,
        Some(Severity::Warning) => return Noticed::Warning,
        _ if after.undecided != before.undecided => return Noticed::Undecided,
        _ if after.verdicts != before.verdicts => return Noticed::Comparison,
        Some(Severity::Lint) => return Noticed::Lint,
        None => {}
    }
    let Ok(changed) = Section::parse(data, placement) else { return Noticed::Nobody };
    let differences = view::differences(section, &changed);
    let faulty = |pc: &u64| {
        let different = |v: &Verdict| matches!(v, Verdict::Different(_));
        before.verdicts.iter().any(|(_, from, to, v)| different(v) && (*from..*to).contains(pc))
    };
    if differences.is_empty() {
        Noticed::Invisible
    } else if differences.iter().all(|(pc, _, _)| faulty(pc)) {
        Noticed::Before
    } else {
        Noticed::Nobody
    }
}
