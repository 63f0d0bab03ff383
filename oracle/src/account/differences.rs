//! Groups differences by origin: the first of each group is kept, and the others are counted with it. On request, every
//! difference is kept.

use std::collections::HashMap;

use sframe_validator::Section;
use sframe_validator::finding::{CodeSpan, Finding, Keep};
use sframe_validator::rules::Rule;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::defects::about_file;
use super::group::{Group, Judge};
use super::message::{self, Marked};
use super::pattern::Pattern;
use super::place::{Place, Wanted, find_rows, function_of};
use super::recognise::Differing;
use super::tally::Tally;
use super::{CfiFrame, Difference, Similar};
use crate::compare::{Contradiction, Fields, Range, Reason, RuledRange, Ruling, Wrong};
use crate::rules::{code, comparison};
use crate::witness::{Marks, SframeFunction};

/// The maximum number of groups in a file. A producer makes a handful of mistakes, but malicious files can have one per row.
/// Groups beyond the maximum are merged into one for each rule.
const MAX_GROUPS: usize = 1024;

/// The occurrences of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    all: Similar,
    /// The function in which it occurred last: functions are visited one after the other.
    last: Option<FunctionId>,
    /// The number of the difference that was kept for it, and its size in bytes.
    kept: Option<(usize, u64)>,
}

/// The function that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionId {
    Sframe(SframeFunction),
    /// The start of a function of CFI, where there is none of SFrame.
    Cfi(CodeAddress),
}

/// A range of PCs about which witnesses differ.
#[derive(Clone, Copy, Debug)]
struct Case<'c> {
    rule: &'static Rule,
    start: CodeAddress,
    end: u64,
    /// The range in which both rows are valid, of which this may be a part.
    whole: (u64, u64),
    fields: Fields,
    sframe: Option<SframeFrame>,
    cfi: Option<CfiFrame<'c>>,
    /// The stored start of SFrame's row, if there is one.
    row_start: Option<u64>,
    /// What the code proves, if it was asked.
    ruling: Option<Ruling>,
    /// Whether the code alone refutes the row.
    is_of_code: bool,
}

/// A function of SFrame, and its frame at a PC.
#[derive(Clone, Copy, Debug)]
struct SframeFrame {
    function: SframeFunction,
    frame: Frame,
}

impl<'c> Case<'c> {
    fn function(&self) -> Option<FunctionId> {
        let in_sframe = self.sframe.map(|sframe| FunctionId::Sframe(sframe.function));
        in_sframe.or_else(|| self.cfi.map(|cfi| FunctionId::Cfi(cfi.function.start())))
    }

    /// Whether the code proves that somebody else is wrong than in a group.
    fn contradicts(&self, group: &Group) -> bool {
        let is_error = |wrong| !matches!(wrong, Wrong::Neither | Wrong::Undecided);
        let (own, others) = (self.ruling.map(|ruling| ruling.wrong), group.wrong);
        own.is_some_and(is_error) && others.is_some_and(is_error) && own != others
    }

    /// The known defect that this is a case of. `wrong` is who is wrong, as far as the code was asked.
    fn defect(&self, wrong: Option<Wrong>, judge: &mut Judge<'_, 'c>) -> Option<&'static str> {
        let SframeFrame { function, frame } = self.sframe?;
        let Case { start, end, fields, cfi, row_start, .. } = *self;
        let sframe = frame;
        judge.recognise(&Differing { start, end, fields, function, sframe, row_start, cfi, wrong })
    }

    /// What both sides have in common with those of other differences.
    fn pattern(&self) -> Option<Pattern> {
        let (sframe, cfi) = (self.sframe.map(|of| of.frame), self.cfi.map(|of| of.frame));
        let (stated, other) = match self.ruling {
            Some(Ruling { reason: Reason::Proof { known, .. }, .. }) if self.is_of_code => {
                let stated = sframe.or(cfi)?;
                (stated, known.instead_of(&stated))
            }
            _ => (sframe?, cfi?),
        };
        Some(Pattern::of(self.fields, &stated, &other))
    }
}

/// A difference that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept<'c> {
    case: Case<'c>,
    defect: Option<&'static str>,
    /// The group has occurred in this function before.
    repeats: bool,
}

/// A row that differs. All ranges in which this row is valid have one cause, however many rows of the other side they
/// cover.
#[derive(Clone, Copy, Debug)]
struct Culprit {
    function: FunctionId,
    /// The start of the row.
    row_start: u64,
    /// The rule broken in the first range.
    rule: &'static Rule,
    group: Group,
}

/// Collects differences.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences<'c> {
    groups: HashMap<Group, Seen>,
    /// The row that differed last: rows are visited one after the other.
    last: Option<Culprit>,
    kept: Vec<Kept<'c>>,
    /// The number of bytes at which the code proves that both witnesses are right.
    pub(super) alike: u64,
}

impl<'c> Differences<'c> {
    /// Adds a range where SFrame and CFI differ.
    pub(super) fn range(
        &mut self,
        range: &Range<'c>,
        fields: Fields,
        judge: &mut Judge<'_, 'c>,
        tally: &mut Tally,
    ) {
        let (Some(in_sframe), Some(in_cfi)) = (range.sframe, range.cfi) else { return };
        let (Some(sframe), Some(cfi)) = (in_sframe.frame, in_cfi.frame) else { return };
        let start = CodeAddress { section: range.section, address: range.start };
        let case = Case {
            rule: comparison::of(fields),
            start,
            end: range.end,
            whole: (range.start, range.end),
            fields,
            sframe: Some(SframeFrame { function: in_sframe.function, frame: sframe }),
            cfi: Some(CfiFrame { function: in_cfi.function, frame: cfi }),
            row_start: range.row_start,
            ruling: None,
            is_of_code: false,
        };
        let row_start = range.row_start.unwrap_or(range.start);
        let parts = judge.rule((start, range.end), fields, (&sframe, &cfi));
        if parts.is_empty() {
            return self.add(case, row_start, judge, tally);
        }
        // Witnesses that say the same in different ways do not differ.
        let size = |part: &RuledRange| part.end.saturating_sub(part.start);
        let (alike, mut parts): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.ruling.wrong == Wrong::Neither);
        self.alike = alike.iter().map(size).fold(self.alike, u64::saturating_add);
        // A part that the code decides represents the others.
        parts.sort_by_key(|part| !part.ruling.is_proof_of_error());
        for RuledRange { start, end, ruling } in parts {
            let start = CodeAddress { address: start, ..case.start };
            self.add(Case { start, end, ruling: Some(ruling), ..case }, row_start, judge, tally);
        }
    }

    /// Adds a range whose rows the code proves wrong.
    pub(super) fn contradiction(
        &mut self,
        found: &Contradiction<'c>,
        judge: &mut Judge<'_, 'c>,
        tally: &mut Tally,
    ) {
        let Contradiction { start, end, wrong, fields, sframe, cfi, change, truth } = *found;
        // A right row of SFrame is not the one to report.
        let sframe = sframe.filter(|_| wrong != Wrong::Cfi);
        let row_start = match (sframe, cfi) {
            (Some(stated), _) => stated.row_start,
            (None, Some(stated)) => stated.row_start,
            (None, None) => start.address,
        };
        let case = Case {
            rule: code::of(wrong),
            start,
            end,
            whole: (start.address, end),
            fields,
            sframe: sframe.map(|of| SframeFrame { function: of.function, frame: of.frame }),
            cfi: cfi.map(|of| CfiFrame { function: of.function, frame: of.frame }),
            row_start: sframe.map(|of| of.row_start),
            ruling: Some(Ruling {
                wrong,
                reason: Reason::Proof { address: start.address, change, known: truth },
            }),
            is_of_code: true,
        };
        self.add(case, row_start, judge, tally);
    }

    fn add(
        &mut self,
        case: Case<'c>,
        row_start: u64,
        judge: &mut Judge<'_, 'c>,
        tally: &mut Tally,
    ) {
        let Some(function) = case.function() else { return };
        let every_range = tally.options().keep == Keep::All;
        // Groups must not depend on how many differences are kept.
        let last = self.last.filter(|last| {
            last.function == function
                && last.row_start == row_start
                && !case.contradicts(&last.group)
        });
        let own = case.ruling.map(|ruling| ruling.wrong);
        let wrong = last.map_or(own, |last| last.group.wrong);
        let defect = case.defect(wrong, judge);
        // A defect may explain a row in a part of its range.
        let same = last.filter(|last| last.group.defect == defect);
        let culprit = same.or_else(|| {
            let (rule, group) = (case.rule, self.group(&case, wrong, defect, judge)?);
            Some(Culprit { function, row_start, rule, group })
        });
        let Some(Culprit { rule, group, .. }) = culprit else { return };
        self.last = Some(Culprit { function, row_start, rule, group });
        let bytes = case.end - case.start.address;
        let seen = self.groups.entry(group).or_default();
        let elsewhere = seen.last != Some(function);
        seen.last = Some(function);
        seen.all.functions += u64::from(elsewhere);
        seen.all.ranges += 1;
        seen.all.bytes = seen.all.bytes.saturating_add(bytes);
        tally.count_difference(rule, group.defect, u64::from(elsewhere));
        if every_range || seen.all.ranges == 1 && tally.keep_difference(rule, group.defect) {
            if !every_range {
                seen.kept = Some((self.kept.len(), bytes));
            }
            let case = Case { rule, ..case };
            self.kept.push(Kept { case, defect: group.defect, repeats: !elsewhere });
        }
    }

    /// The group of a difference. Beyond the maximum, there is one for each rule and defect.
    fn group(
        &self,
        case: &Case<'_>,
        wrong: Option<Wrong>,
        defect: Option<&'static str>,
        judge: &Judge<'_, '_>,
    ) -> Option<Group> {
        let (rule, section) = (case.rule.name, judge.section(case.start));
        let group = Group { rule, pattern: case.pattern()?, section, wrong, defect };
        let has_room = self.groups.len() < MAX_GROUPS || self.groups.contains_key(&group);
        let rest = Group { rule, pattern: Pattern::Rest, section: None, wrong: None, defect };
        Some(if has_room { group } else { rest })
    }

    /// Hands the differences that were kept to `found`, ordered by place, with all details.
    pub(super) fn finish(self, sections: &[Section<'_>], found: &mut dyn FnMut(Difference<'c>)) {
        let mut similar = vec![None; self.kept.len()];
        for Seen { all, kept, .. } in self.groups.into_values() {
            let Some((number, bytes)) = kept else { continue };
            if let Some(similar) = similar.get_mut(number) {
                *similar = Some(Similar {
                    functions: all.functions.saturating_sub(1),
                    ranges: all.ranges.saturating_sub(1),
                    bytes: all.bytes.saturating_sub(bytes),
                });
            }
        }
        let wanted = |(asked_by, kept): (usize, &Kept<'_>)| {
            let Case { whole, sframe, cfi, is_of_code, .. } = kept.case;
            let function = sframe?.function;
            Some(Wanted {
                asked_by,
                section: function.section,
                function: function.index,
                address: whole.0,
                cfi: cfi.filter(|_| !is_of_code).map(|cfi| cfi.frame),
                row: None,
            })
        };
        let mut wanted: Vec<_> = self.kept.iter().enumerate().filter_map(wanted).collect();
        find_rows(sections, &mut wanted);
        let mut rows = vec![None; self.kept.len()];
        for Wanted { asked_by, row, .. } in wanted {
            if let Some(place) = rows.get_mut(asked_by) {
                *place = row;
            }
        }
        let all = self.kept.into_iter().zip(rows).zip(similar);
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|((kept, _), _)| kept.case.start);
        for ((Kept { case, defect, repeats }, row), similar) in all {
            let finding = case.finding(sections, row.as_ref());
            found(Difference {
                finding,
                start: case.start,
                end: case.end,
                whole: case.whole,
                fields: case.fields,
                sframe: case.sframe.map(|sframe| sframe.frame),
                cfi: case.cfi,
                ruling: case.ruling,
                known: defect,
                is_of_code: case.is_of_code,
                similar,
                repeats,
            });
        }
    }
}

impl Case<'_> {
    /// The finding, with the place of SFrame's row, if it was found.
    fn finding(&self, sections: &[Section<'_>], row: Option<&Place>) -> Finding {
        let number = self.sframe.and_then(|of| usize::try_from(of.function.section).ok());
        let section = number.and_then(|number| sections.get(number));
        let function = self.sframe.map(|of| of.function);
        let (id, entry) = section
            .zip(function)
            .and_then(|(section, function)| function_of(section, function.index))
            .unzip();
        let bytes = row.map(|row| row.bytes.clone()).or(entry);
        Finding {
            section: number,
            offset: bytes.as_ref().map(|bytes| bytes.start),
            bytes: bytes.unwrap_or_default(),
            function: id,
            row: row.map(|row| row.number),
            code: Some(CodeSpan { start: self.start, end: self.end }),
            ..about_file(self.rule, self.message(section, id.and_then(|id| id.start), row))
        }
    }

    /// The values of both sides in words. SFrame's function is in `section` and begins at `start`.
    fn message(
        &self,
        section: Option<&Section<'_>>,
        start: Option<CodeAddress>,
        row: Option<&Place>,
    ) -> String {
        let of_section = section.and_then(|section| section.abi().ok());
        let abi = of_section.or_else(|| self.cfi.map(|cfi| cfi.function.cfi().abi()));
        let Some(abi) = abi else { return String::new() };
        let noun = self.cfi.map_or("CFI", |cfi| cfi.function.cfi().noun());
        let sframe = self.sframe.map(|of| Marked::sframe(of.frame, section, of.function.index));
        let cfi = self.cfi.map(|CfiFrame { function, frame }| Marked {
            frame,
            marks: Marks::of_cie(function.cie()),
            no_rows: false,
        });
        match (self.ruling.filter(|_| self.is_of_code), sframe, cfi) {
            (Some(Ruling { wrong, reason: Reason::Proof { known, .. } }), sframe, cfi) => {
                sframe.or(cfi).map_or_else(String::new, |stated| {
                    message::contradiction(self.fields, (wrong, noun), stated, &known, abi)
                })
            }
            (_, Some(sframe), Some(cfi)) => {
                let mut message = message::difference(self.fields, sframe, (noun, cfi), abi);
                if let Some(Place { number, late: Some(late), .. }) = row
                    && let Some(from) =
                        start.and_then(|start| self.whole.0.checked_sub(start.address))
                {
                    message.push_str(&message::late(noun, *number, *late, from));
                }
                message
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::Abi;
    use sframe_validator::elf::Elf;
    use sframe_validator::unwind::{Cfa, Recovery, Register};

    use super::*;
    use crate::account::Options;
    use crate::cfi::{Cfi, Fde, Kind};
    use crate::code::ProvenRow;
    use crate::compare::{Stated, Verdict};
    use crate::witness::Statement;

    fn frame(register: u32, cfa: i64, ra: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(register), offset: cfa };
        Frame { cfa, ra: Recovery::AtCfa(ra), fp: Recovery::Unchanged, ra_signed: false }
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

    /// A range of a byte in which SFrame has another CFA than CFI.
    fn range(number: u32, start: u64, cfa: i64, fde: Fde<'_>) -> Range<'_> {
        let (function, frame) = (function(number), frame(7, 8, -8));
        Range {
            section: 0,
            start,
            end: start + 1,
            verdict: Verdict::Different(Fields::CFA),
            undecided: Fields::default(),
            sframe: Some(Statement { function, frame: Some(frame) }),
            row_start: None,
            cfi: Some(Statement { function: fde, frame: Some(self::frame(7, cfa, -8)) }),
        }
    }

    /// The same frames in `.plt` and in `.text`, and as a row that the code refutes.
    #[test]
    fn sections_and_rules_are_apart() {
        let file = sframe_corpus::read("golden/2.44/x86_64/shared.so");
        let elf = Elf::parse(&file).expect("ELF");
        let in_section = |name: &[u8]| {
            elf.code_sections().find(|it| it.name.bytes() == name).expect("there is one").address
        };
        with_function(|fde| {
            let mut tally = Tally::new(&Options::default());
            let mut without_defects = ();
            let mut judge = Judge::new(&elf, &[], &[], &mut without_defects);
            let mut differences = Differences::default();
            let ranges = [b".plt".as_slice(), b".text", b".text"].map(in_section);
            for (number, start) in (0..).zip(ranges) {
                let one = range(number, start, 16, fde);
                differences.range(&one, Fields::CFA, &mut judge, &mut tally);
            }
            assert_eq!(differences.groups.len(), 2);
            let stated = Stated { function: function(3), row_start: 0, frame: frame(7, 8, -8) };
            let cfa = Some(Cfa::RegisterOffset { register: Register(7), offset: 16 });
            let truth = ProvenRow { cfa, ra: None, fp: None, ra_signed: false };
            let (start, end) = (CodeAddress::absolute(ranges[1]), ranges[1] + 1);
            let (wrong, fields, sframe) = (Wrong::Undecided, Fields::CFA, Some(stated));
            let found =
                Contradiction { start, end, wrong, fields, sframe, cfi: None, change: None, truth };
            differences.contradiction(&found, &mut judge, &mut tally);
            assert_eq!(differences.groups.len(), 3);
            let mut kept = Vec::new();
            differences.finish(&[], &mut |one| kept.push((one.finding.rule.name, one.similar)));
            kept.sort_unstable_by_key(|(rule, similar)| (*rule, similar.map(|it| it.ranges)));
            let ranges: Vec<_> = kept.iter().map(|(_, it)| it.map(|it| it.ranges)).collect();
            assert_eq!(ranges, [Some(0), Some(1), Some(0)], "{kept:?}");
        });
    }

    /// More patterns than the maximum, each in a different function.
    #[test]
    fn patterns_beyond_the_limit_are_one() {
        with_function(|fde| {
            let mut tally = Tally::new(&Options { keep: Keep::First(5000), ..Options::default() });
            let file = sframe_corpus::read("golden/2.44/x86_64/static.exe");
            let elf = Elf::parse(&file).expect("ELF");
            let mut without_defects = ();
            let mut judge = Judge::new(&elf, &[], &[], &mut without_defects);
            let mut differences = Differences::default();
            let count = 3000;
            for number in 0..count {
                let start = 0x1000 + u64::from(number);
                let range = range(number, start, 16 + i64::from(number), fde);
                differences.range(&range, Fields::CFA, &mut judge, &mut tally);
            }
            assert_eq!(differences.groups.len(), MAX_GROUPS + 1);
            assert_eq!(tally.counts().iter().map(|(_, count)| *count).sum::<u64>(), 3000);
            let mut kept = Vec::new();
            differences.finish(&[], &mut |difference| kept.push(difference));
            assert_eq!(kept.len(), MAX_GROUPS + 1);
            let rest = Similar { functions: 1975, ranges: 1975, bytes: 1975 };
            assert_eq!(kept.last().expect("many").similar, Some(rest));
            let others = |kept: &Difference<'_>| kept.similar.expect("by pattern").bytes;
            let bytes = kept.iter().map(|kept| kept.end - kept.start.address + others(kept));
            assert_eq!(bytes.sum::<u64>(), 3000);
        });
    }
}
