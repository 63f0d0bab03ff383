//! Compares the validator's reading of a section with libsframe's.

use std::fmt;

use sframe_validator::Section;
use sframe_validator::section::Function;

use super::own;
use crate::peer::{self, Answer, Meaning, Row};

/// The subject of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// libsframe refuses a valid section.
    Refused,
    /// The header's fields, or the number of functions.
    Header,
    /// A field of a function, by its name.
    Function(&'static str),
    /// libsframe refuses a valid function or row.
    Missing,
    /// How a row is stored.
    Stored,
    /// The given part of a row's meaning.
    Meaning(&'static str),
    /// The row of a PC.
    Lookup,
    /// libsframe has written past the end of the buffer for a row.
    Overrun,
}

/// A place where libsframe gives a different result.
pub(super) struct Difference<'a> {
    /// The version of libsframe's interface.
    pub(super) api: u8,
    pub(super) section: &'a Section<'a>,
    /// The function there, as the validator reads it.
    pub(super) function: Option<Function<'a>>,
    /// The PC that was looked up.
    pub(super) pc: Option<u64>,
    pub(super) kind: Kind,
    /// The results of both sides, as text.
    sides: String,
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        if let Some(function) = &self.function {
            write!(f, ", function {}", function.index())?;
        }
        if let Some(pc) = self.pc {
            write!(f, ", PC {pc:#x}")?;
        }
        write!(f, ": {}", self.sides)
    }
}

/// All differences between the validator's reading and an answer. Malformed parts may be read or refused, and are left
/// out. `pcs`: the PCs that were looked up, if the section is valid.
pub(super) fn compare<'a>(
    section: &'a Section<'a>,
    answer: &Answer,
    pcs: Option<&Vec<u64>>,
) -> Vec<Difference<'a>> {
    let differences = Vec::new();
    let mut list = List { api: answer.api, section, sound: pcs.is_some(), differences };
    if let Some(code) = answer.refused {
        list.add_if_sound(Kind::Refused, None, format!("error {code}"));
        return list.differences;
    }
    if answer.overrun {
        list.add(Kind::Overrun, None, String::new());
    }
    let header = section.header();
    let ours = (header.abi_arch, header.cfa_fixed_fp_offset, header.cfa_fixed_ra_offset);
    if answer.header != Some(ours) {
        list.add(Kind::Header, None, format!("{ours:?}, {:?}", answer.header));
    }
    let mut budget = section.row_budget();
    for (ours, theirs) in section.functions().zip(&answer.functions) {
        let Ok(ours) = ours else { continue };
        let (rows, whole) = own::rows(&ours, &mut budget);
        match theirs {
            Ok(theirs) => list.function(&ours, &rows, theirs),
            Err(code) if whole => {
                list.add_if_sound(Kind::Missing, Some(ours), format!("error {code}"))
            }
            Err(_) => {}
        }
    }
    for (pc, theirs) in pcs.into_iter().flatten().zip(&answer.found) {
        let Ok(ours) = own::find(section, *pc) else { continue };
        let (function, row) = ours.unzip();
        if row.as_ref() != theirs.as_ref().ok() {
            list.add(Kind::Lookup, function, format!("{row:?}, {theirs:?}"));
            list.differences.last_mut().expect("added").pc = Some(*pc);
        }
    }
    list.differences
}

struct List<'a> {
    api: u8,
    section: &'a Section<'a>,
    sound: bool,
    differences: Vec<Difference<'a>>,
}

impl<'a> List<'a> {
    fn add(&mut self, kind: Kind, function: Option<Function<'a>>, sides: String) {
        let (api, section) = (self.api, self.section);
        self.differences.push(Difference { api, section, function, pc: None, kind, sides });
    }

    fn add_if_sound(&mut self, kind: Kind, function: Option<Function<'a>>, sides: String) {
        if self.sound {
            self.add(kind, function, sides);
        }
    }

    fn function(&mut self, ours: &Function<'a>, rows: &[own::OwnRow], theirs: &peer::Function) {
        let attributes = ours.attributes();
        let fields: [(_, i64, i64); 6] = [
            ("start", ours.entry().start_field(), theirs.start),
            ("size", ours.size().into(), theirs.size.into()),
            ("num_fres", attributes.num_fres.into(), theirs.num_fres.into()),
            ("info", attributes.info.0.into(), theirs.info.into()),
            ("info2", attributes.info2.0.into(), theirs.info2.into()),
            ("rep_size", attributes.rep_size.into(), theirs.rep_size.into()),
        ];
        for (name, own, other) in fields.into_iter().filter(|(_, own, other)| own != other) {
            self.add(Kind::Function(name), Some(*ours), format!("{own:#x}, {other:#x}"));
        }
        for (own, other) in rows.iter().zip(&theirs.rows) {
            let Some(meaning) = &own.meaning else { continue };
            match other {
                Err(code) => {
                    self.add_if_sound(Kind::Missing, Some(*ours), format!("{own:?}, error {code}"))
                }
                Ok(other) if own.stored != other.stored => {
                    let sides = format!("{:?}, {:?}", own.stored, other.stored);
                    self.add(Kind::Stored, Some(*ours), sides);
                }
                Ok(other) => self.meaning(ours, meaning, other),
            }
        }
    }

    fn meaning(&mut self, function: &Function<'a>, own: &Meaning, row: &Row) {
        let other = row.meaning;
        // If RA is undefined, the other rules do not count.
        let parts = match own.undefined || other.undefined {
            true => [own.undefined != other.undefined, false, false, false, false, false],
            false => [
                false,
                own.base.is_some() && own.base != other.base,
                own.cfa != other.cfa,
                own.ra != other.ra,
                own.fp != other.fp,
                own.mangled != other.mangled,
            ],
        };
        let names = ["undefined RA", "CFA base", "CFA", "RA", "FP", "signing"];
        for (_, name) in parts.into_iter().zip(names).filter(|(differs, _)| *differs) {
            let sides = format!("{:?}: {own:?}, {other:?}", row.stored);
            self.add(Kind::Meaning(name), Some(*function), sides);
        }
    }
}
