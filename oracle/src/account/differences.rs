//! Groups differences by pattern: the first of each is kept, and the others are counted with it. On request, every
//! difference is kept.

use std::collections::HashMap;

use sframe_validator::finding::{Finding, Keep};
use sframe_validator::rules::Rule;
use sframe_validator::unwind::{Cfa, CodeAddress, Expression, Frame, Recovery};
use sframe_validator::{Abi, Section};

use super::message::{self, Marked};
use super::place::{Place, Wanted, find_rows, function_of};
use super::tally::Tally;
use super::{CfiFrame, Difference, Similar};
use crate::compare::{Fields, Range};
use crate::rules::comparison;
use crate::witness::{Marks, SframeFunction};

/// The maximum number of distinct patterns in a file. A producer makes a handful of mistakes, but malicious files can
/// have one per row. Patterns beyond the maximum are merged into one for each rule.
const MAX_PATTERNS: usize = 1024;

/// The common properties of two frames that differ in the same way as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pattern {
    /// The fields, and both values of each. The offset of the second is relative to the first, whose offset is zero.
    Shape(Fields, (Cfa, Cfa), [(Recovery, Recovery); 2], (bool, bool)),
    /// Any pattern of a rule, identified by name.
    Rest(&'static str),
}

impl Pattern {
    fn of(fields: Fields, sframe: &Frame, cfi: &Frame) -> Pattern {
        let any = (Recovery::Unchanged, Recovery::Unchanged);
        let in_ra = fields.contains(Fields::RA) || fields.contains(Fields::UNDEFINED_RA);
        let in_fp = fields.contains(Fields::FP);
        let signed = (sframe.ra_signed, cfi.ra_signed);
        Pattern::Shape(
            fields,
            if fields.contains(Fields::CFA) {
                cfa_apart(sframe.cfa, cfi.cfa)
            } else {
                (Cfa::Undefined, Cfa::Undefined)
            },
            [
                if in_ra { apart(sframe.ra, cfi.ra) } else { any },
                if in_fp { apart(sframe.fp, cfi.fp) } else { any },
            ],
            if fields.contains(Fields::RA_SIGNING) { signed } else { (false, false) },
        )
    }
}

const NO_EXPRESSION: Expression = Expression { offset: 0, length: 0 };

/// A CFA with the same kind and base but another offset, and its own offset.
fn cfa_at(cfa: Cfa, offset: i64) -> (Cfa, Option<i64>) {
    match cfa {
        Cfa::RegisterOffset { register, offset: own } => {
            (Cfa::RegisterOffset { register, offset }, Some(own))
        }
        Cfa::Dereference { register, offset: own } => {
            (Cfa::Dereference { register, offset }, Some(own))
        }
        Cfa::Expression(_) => (Cfa::Expression(NO_EXPRESSION), None),
        Cfa::Undefined => (Cfa::Undefined, None),
    }
}

/// A rule with the same kind and base but another offset, and its own offset.
fn recovery_at(rule: Recovery, offset: i64) -> (Recovery, Option<i64>) {
    match rule {
        Recovery::AtCfa(own) => (Recovery::AtCfa(offset), Some(own)),
        Recovery::CfaOffset(own) => (Recovery::CfaOffset(offset), Some(own)),
        Recovery::AtRegister { register, offset: own } => {
            (Recovery::AtRegister { register, offset }, Some(own))
        }
        Recovery::RegisterOffset { register, offset: own } => {
            (Recovery::RegisterOffset { register, offset }, Some(own))
        }
        Recovery::AtExpression(_) => (Recovery::AtExpression(NO_EXPRESSION), None),
        Recovery::Expression(_) => (Recovery::Expression(NO_EXPRESSION), None),
        plain @ (Recovery::Unchanged | Recovery::Undefined) => (plain, None),
    }
}

/// The distance between two offsets, if both values have one.
fn distance(sframe: Option<i64>, cfi: Option<i64>) -> i64 {
    sframe.zip(cfi).map_or(0, |(sframe, cfi)| cfi.wrapping_sub(sframe))
}

fn cfa_apart(sframe: Cfa, cfi: Cfa) -> (Cfa, Cfa) {
    let (shape, from) = cfa_at(sframe, 0);
    let (_, to) = cfa_at(cfi, 0);
    (shape, cfa_at(cfi, distance(from, to)).0)
}

fn apart(sframe: Recovery, cfi: Recovery) -> (Recovery, Recovery) {
    let (shape, from) = recovery_at(sframe, 0);
    let (_, to) = recovery_at(cfi, 0);
    (shape, recovery_at(cfi, distance(from, to)).0)
}

/// A pattern, and its occurrences.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    all: Similar,
    /// The function in which it occurred last: functions are visited one after the other.
    last: Option<SframeFunction>,
    /// The number of the difference that was kept for it, and its size in bytes.
    kept: Option<(usize, u64)>,
}

/// A difference that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept<'c> {
    rule: &'static Rule,
    start: CodeAddress,
    end: u64,
    fields: Fields,
    function: SframeFunction,
    sframe: Frame,
    cfi: CfiFrame<'c>,
    /// The pattern has occurred in this function before.
    repeats: bool,
}

/// A row that differs. All ranges in which this row is valid have one cause, however many rows of CFI they cover.
#[derive(Clone, Copy, Debug)]
struct Culprit {
    function: SframeFunction,
    /// The start of the row.
    row_start: u64,
    /// The rule broken in the first range.
    rule: &'static Rule,
    pattern: Pattern,
}

/// Collects differences.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences<'c> {
    patterns: HashMap<Pattern, Seen>,
    /// The row that differed last: rows are visited one after the other.
    last: Option<Culprit>,
    kept: Vec<Kept<'c>>,
}

impl<'c> Differences<'c> {
    /// Adds a range where SFrame and CFI differ.
    pub(super) fn range(&mut self, range: &Range<'c>, fields: Fields, tally: &mut Tally) {
        let (Some(in_sframe), Some(in_cfi)) = (range.sframe, range.cfi) else { return };
        let (Some(sframe), Some(cfi)) = (in_sframe.frame, in_cfi.frame) else { return };
        let function = in_sframe.function;
        let row_start = range.row_start.unwrap_or(range.start);
        let known =
            self.last.filter(|last| last.function == function && last.row_start == row_start);
        let Culprit { rule, pattern, .. } = known.unwrap_or_else(|| {
            let rule = comparison::of(fields);
            let pattern = Pattern::of(fields, &sframe, &cfi);
            let room = self.patterns.len() < MAX_PATTERNS || self.patterns.contains_key(&pattern);
            let pattern = if room { pattern } else { Pattern::Rest(rule.name) };
            Culprit { function, row_start, rule, pattern }
        });
        self.last = Some(Culprit { function, row_start, rule, pattern });
        let bytes = range.end - range.start;
        let seen = self.patterns.entry(pattern).or_default();
        let elsewhere = seen.last != Some(function);
        seen.last = Some(function);
        seen.all.functions += u64::from(elsewhere);
        seen.all.ranges += 1;
        seen.all.bytes = seen.all.bytes.saturating_add(bytes);
        tally.count(rule, u64::from(elsewhere));
        let every_range = tally.options().keep == Keep::All;
        if every_range || seen.all.ranges == 1 && tally.keep(rule) {
            if !every_range {
                seen.kept = Some((self.kept.len(), bytes));
            }
            self.kept.push(Kept {
                rule,
                start: CodeAddress { section: range.section, address: range.start },
                end: range.end,
                fields,
                function,
                sframe,
                cfi: CfiFrame { function: in_cfi.function, frame: cfi },
                repeats: !elsewhere,
            });
        }
    }

    /// Hands the differences that were kept to `found`, ordered by place, with all details.
    pub(super) fn finish(self, sections: &[Section<'_>], found: &mut dyn FnMut(Difference<'c>)) {
        let mut similar = vec![None; self.kept.len()];
        for Seen { all, kept, .. } in self.patterns.into_values() {
            let Some((number, bytes)) = kept else { continue };
            if let Some(similar) = similar.get_mut(number) {
                *similar = Some(Similar {
                    functions: all.functions.saturating_sub(1),
                    ranges: all.ranges.saturating_sub(1),
                    bytes: all.bytes.saturating_sub(bytes),
                });
            }
        }
        let mut wanted: Vec<_> = (self.kept.iter().enumerate())
            .map(|(asked_by, kept)| Wanted {
                asked_by,
                section: kept.function.section,
                function: kept.function.index,
                address: kept.start.address,
                cfi: kept.cfi.frame,
                row: None,
            })
            .collect();
        find_rows(sections, &mut wanted);
        wanted.sort_by_key(|wanted| wanted.asked_by);
        let all = self.kept.into_iter().zip(wanted).zip(similar);
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|((kept, _), _)| kept.start);
        for ((kept, wanted), similar) in all {
            found(kept.described(sections, &wanted, similar));
        }
    }
}

impl<'c> Kept<'c> {
    fn described(
        self,
        sections: &[Section<'_>],
        wanted: &Wanted,
        similar: Option<Similar>,
    ) -> Difference<'c> {
        let number = usize::try_from(self.function.section).ok();
        let section = number.and_then(|number| sections.get(number));
        let (id, entry) =
            section.and_then(|section| function_of(section, self.function.index)).unzip();
        let place = wanted.row.as_ref();
        let bytes = place.map(|place| place.bytes.clone()).or(entry);
        let CfiFrame { function: fde, frame } = self.cfi;
        let abi: Abi = fde.cfi().abi();
        let sframe = Marked::sframe(self.sframe, section, self.function.index);
        let cfi = Marked { frame, marks: Marks::of_cie(fde.cie()), no_rows: false };
        let mut message = message::difference(self.fields, sframe, cfi, abi);
        let start = id.and_then(|id| id.start);
        if let Some(Place { number, late: Some(late), .. }) = place
            && let Some(from) = start.and_then(|s| self.start.address.checked_sub(s.address))
        {
            message.push_str(&message::late(*number, *late, from));
        }
        Difference {
            finding: Finding {
                rule: self.rule,
                section: number,
                offset: bytes.as_ref().map(|bytes| bytes.start),
                bytes: bytes.unwrap_or_default(),
                field: None,
                function: id,
                row: place.map(|place| place.number),
                code: Some((self.start, self.end)),
                message,
            },
            start: self.start,
            end: self.end,
            fields: self.fields,
            sframe: self.sframe,
            cfi: self.cfi,
            similar,
            repeats: self.repeats,
        }
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::Register;

    use super::*;
    use crate::account::Options;
    use crate::cfi::{Cfi, Fde, Kind};
    use crate::compare::Verdict;
    use crate::witness::Statement;

    fn frame(register: u32, cfa: i64, ra: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(register), offset: cfa };
        Frame { cfa, ra: Recovery::AtCfa(ra), fp: Recovery::Unchanged, ra_signed: false }
    }

    #[test]
    fn a_pattern_is_the_fields_the_bases_and_the_distance() {
        let of = |sframe: &Frame, cfi: &Frame| Pattern::of(Fields::CFA, sframe, cfi);
        let known = of(&frame(7, 16, -8), &frame(7, 8, -8));
        // Both are further from SP; fields that do not differ do not matter.
        assert_eq!(of(&frame(7, 240, -8), &frame(7, 232, -8)), known);
        assert_eq!(of(&frame(7, 16, -16), &frame(7, 8, -16)), known);
        // In the other direction, at another distance, from another base, or in another field as well.
        assert_ne!(of(&frame(7, 8, -8), &frame(7, 16, -8)), known);
        assert_ne!(of(&frame(7, 24, -8), &frame(7, 8, -8)), known);
        assert_ne!(of(&frame(6, 16, -8), &frame(7, 8, -8)), known);
        let both = Fields::CFA.with(Fields::RA);
        assert_ne!(Pattern::of(both, &frame(7, 16, -8), &frame(7, 8, -16)), known);
        // The same for RA, also where one side has none.
        let plain = frame(7, 8, -8);
        let ra = |fields, sframe, cfi| Pattern::of(fields, &frame(7, 8, sframe), &frame(7, 8, cfi));
        assert_eq!(ra(Fields::RA, -8, -16), ra(Fields::RA, -16, -24));
        assert_ne!(ra(Fields::RA, -8, -16), ra(Fields::RA, -8, -24));
        let outermost = Frame { ra: Recovery::Undefined, ..plain };
        let ended = |other| Pattern::of(Fields::UNDEFINED_RA, &outermost, &other);
        let saved = Recovery::RegisterOffset { register: Register(3), offset: 0 };
        assert_ne!(ended(plain), ended(Frame { ra: saved, ..plain }));
        // The direction of a signature.
        let signed = Frame { ra_signed: true, ..plain };
        let signing = |a, b| Pattern::of(Fields::RA_SIGNING, a, b);
        assert_ne!(signing(&plain, &signed), signing(&signed, &plain));
        // A kind without an offset has no distance.
        let lost = Frame { fp: Recovery::AtCfa(-16), ..frame(7, 8, -8) };
        let elsewhere = Frame { fp: Recovery::AtCfa(-24), ..frame(7, 8, -8) };
        assert_eq!(
            Pattern::of(Fields::FP, &plain, &lost),
            Pattern::of(Fields::FP, &plain, &elsewhere)
        );
    }

    fn function(index: u32) -> SframeFunction {
        SframeFunction { section: 0, index, start: CodeAddress::absolute(0x1000), size: 16 }
    }

    /// Provides a section and a function for differences.
    fn with_function(look: impl FnOnce(Fde<'_>)) {
        let cie = [10_u32.to_le_bytes().as_slice(), &[0; 4], &[1, 0, 1, 0x78, 16, 0]].concat();
        let fde = [20_u32.to_le_bytes(), 18_u32.to_le_bytes()].concat();
        let bytes =
            [cie, fde, 0x1000_u64.to_le_bytes().into(), 16_u64.to_le_bytes().into()].concat();
        let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
        look(cfi.functions().next().expect("one function"));
    }

    /// More patterns than the maximum, each in a different function.
    #[test]
    fn patterns_beyond_the_limit_are_one() {
        with_function(|fde| {
            let mut tally = Tally::new(&Options { keep: Keep::First(5000), ..Options::default() });
            let mut differences = Differences::default();
            let count = 3000;
            for number in 0..count {
                let cfi = frame(7, 16 + i64::from(number), -8);
                let range = Range {
                    section: 0,
                    start: 0x1000 + u64::from(number),
                    end: 0x1001 + u64::from(number),
                    verdict: Verdict::Different(Fields::CFA),
                    undecided: Fields::default(),
                    sframe: Some(Statement {
                        function: function(number),
                        frame: Some(frame(7, 8, -8)),
                    }),
                    row_start: None,
                    cfi: Some(Statement { function: fde, frame: Some(cfi) }),
                };
                differences.range(&range, Fields::CFA, &mut tally);
            }
            assert_eq!(differences.patterns.len(), MAX_PATTERNS + 1);
            assert_eq!(tally.counts().iter().map(|(_, count)| *count).sum::<u64>(), 3000);
            let mut kept = Vec::new();
            differences.finish(&[], &mut |difference| kept.push(difference));
            assert_eq!(kept.len(), MAX_PATTERNS + 1);
            let rest = Similar { functions: 1975, ranges: 1975, bytes: 1975 };
            assert_eq!(kept.last().expect("many").similar, Some(rest));
            let others = |kept: &Difference<'_>| kept.similar.expect("by pattern").bytes;
            let bytes = kept.iter().map(|kept| kept.end - kept.start.address + others(kept));
            assert_eq!(bytes.sum::<u64>(), 3000);
        });
    }
}
