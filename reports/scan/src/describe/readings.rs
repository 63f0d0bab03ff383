//! What consumers do with a file's sections, in the record of the file.

use sframe_consumers::{Assessment, Example, Functions, Kind, PcBytes, Verdict};
use sframe_record::json::{exact_name, name};
use sframe_record::{Address, Function, Outcome, ReadBytes, ReadExample, ReadFunctions, Reading};
use sframe_validator::Section;
use sframe_validator::unwind::CodeAddress;

use super::names::Names;

/// What a consumer does with a section. `place` says what is at an address that the consumer sees.
pub(crate) fn reading(
    assessment: Assessment,
    section: Option<&Section<'_>>,
    names: &Names<'_, '_>,
    place: &dyn Fn(u64) -> CodeAddress,
) -> Reading<'static> {
    let examples = assessment.examples.into_iter().map(|of| example(of, section, names, place));
    Reading {
        consumer: assessment.consumer.into(),
        outcome: outcome(assessment.verdict),
        reason: assessment.reason.map(Into::into),
        functions: functions(assessment.functions),
        bytes: bytes(assessment.bytes),
        examples: examples.collect(),
    }
}

const fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Accept => Outcome::Accept,
        Verdict::Ignore => Outcome::Ignore,
        Verdict::Part => Outcome::Part,
        Verdict::Misread => Outcome::Misread,
        Verdict::Reject => Outcome::Reject,
        Verdict::Crash => Outcome::Crash,
        Verdict::Undecided => Outcome::Undecided,
    }
}

const fn functions(counts: Functions) -> ReadFunctions {
    let Functions { found, misread, unreachable, lost, drop_section, crash, undecided } = counts;
    ReadFunctions { found, misread, unreachable, lost, drop_section, crash, undecided, replaced: 0 }
}

const fn bytes(counts: PcBytes) -> ReadBytes {
    let PcBytes { same, other, none, crash, undecided, beyond } = counts;
    ReadBytes { same, other, none, crash, undecided, beyond }
}

fn example(
    of: Example,
    section: Option<&Section<'_>>,
    names: &Names<'_, '_>,
    place: &dyn Fn(u64) -> CodeAddress,
) -> ReadExample<'static> {
    let (start, pc) = (place(of.start), place(of.pc));
    let entry =
        section.and_then(|section| section.entry(of.function)?.function().ok().map(|it| it.size()));
    let symbol = names.symbol(start);
    let symbol = symbol.as_ref();
    let function = Function {
        index: of.function,
        start: Some(Address(start.address)),
        code_section: names.section(start).map(Into::into),
        size: entry.unwrap_or_default(),
        symbol: symbol.map(|symbol| name(&symbol.name).into()),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)).map(Into::into),
        symbol_offset: symbol.map(|symbol| symbol.offset),
    };
    ReadExample {
        kind: kind(of.kind).into(),
        function,
        pc: Address(pc.address),
        reason: of.reason.into(),
    }
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Misread => "misread",
        Kind::Unreachable => "unreachable",
        Kind::Lost => "lost",
        Kind::DropSection => "drop-section",
        Kind::Crash => "crash",
        Kind::Undecided => "undecided",
        Kind::Beyond => ReadExample::BEYOND,
    }
}
