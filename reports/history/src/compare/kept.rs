//! The parts of a record that are kept for comparison.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::LazyLock;

use super::strings::{Id, Strings};
use crate::shape;
use sframe_record::numbers::without_numbers;
use sframe_record::{
    Coverage, CoveredFunctions, Difference, Finding, FunctionPlace, Group, PrintedFrame, Record,
    Severity, Side, Status, Text, UndecidedCause, UnwindTable,
};

/// The rule about call sites, which a scan examines only if that is requested.
const OF_CALL_SITES: &str = "wrong-frame-after-call";

/// A name as text, plus its bytes in hexadecimal if it is not valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) text: Id,
    pub(super) hex: Option<Id>,
}

impl Name {
    fn of(text: &Text<'_>, hex: Option<&Text<'_>>, strings: &mut Strings) -> Name {
        Name { text: strings.id(text), hex: hex.map(|hex| strings.id(hex)) }
    }

    fn maybe(
        text: Option<&Text<'_>>,
        hex: Option<&Text<'_>>,
        strings: &mut Strings,
    ) -> Option<Name> {
        text.map(|text| Name::of(text, hex, strings))
    }
}

/// The relevant parts of a file's record.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: Name,
    pub(super) inside: Option<Name>,
    pub(super) member: Option<Name>,
    /// The package's name and architecture.
    pub(super) package: Option<(Id, Option<Id>)>,
    pub(super) content: Option<Id>,
    pub(super) reason: Option<Id>,
    pub(super) status: Status,
    /// Whether it was compared with machine code.
    pub(super) is_proved: bool,
    /// Whether its call sites were examined.
    pub(super) has_call_sites: bool,
    /// `None` for the many files without code and findings.
    details: Option<Box<Details>>,
}

/// What was found in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Details {
    pub(super) code_bytes: u64,
    pub(super) covered_bytes: u64,
    /// The number of functions in all sections.
    pub(super) functions: u64,
    /// The versions of all sections, and their size in bytes.
    pub(super) format: Option<Id>,
    pub(super) section_bytes: u64,
    pub(super) counts: Box<[(Id, Severity, u64)]>,
    pub(super) items: Box<[Item]>,
    pub(super) coverage: Option<Box<Covered>>,
    /// Kind, and name with version.
    pub(super) producers: Box<[(Id, Id)]>,
    /// Why checks were not possible, and the sentences about it without numbers.
    pub(super) undecided: Box<[(UndecidedCause, Id)]>,
}

/// The details of a file without code and findings.
static NOTHING: LazyLock<Details> = LazyLock::new(|| Details {
    code_bytes: 0,
    covered_bytes: 0,
    functions: 0,
    format: None,
    section_bytes: 0,
    counts: Box::default(),
    items: Box::default(),
    coverage: None,
    producers: Box::default(),
    undecided: Box::default(),
});

impl Deref for File {
    type Target = Details;

    fn deref(&self) -> &Details {
        self.details.as_deref().unwrap_or(&NOTHING)
    }
}

/// What a scan needs for the rule of a finding, apart from the section. Not every scan reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needs {
    Section,
    Cfi,
    Code,
    CallSites,
}

/// The relevant parts of a finding.
#[derive(Debug, PartialEq)]
pub(super) struct Item {
    pub(super) rule: Id,
    pub(super) severity: Severity,
    pub(super) needs: Needs,
    pub(super) message: Id,
    pub(super) section: Option<Id>,
    pub(super) symbol: Option<Name>,
    pub(super) symbol_offset: u64,
    /// The name and value of the field.
    pub(super) field: Option<(Id, Id)>,
    pub(super) row: Option<u32>,
    pub(super) index: Option<u32>,
    pub(super) function: Option<u64>,
    pub(super) function_size: Option<u32>,
    pub(super) code: Option<(u64, u64)>,
    pub(super) offset: Option<u64>,
    /// The fields that differ, joined in one string.
    pub(super) difference: Option<Id>,
    /// What SFrame was compared with, if it is a difference.
    pub(super) compared_with: Option<UnwindTable>,
    pub(super) table: Box<[Line]>,
    pub(super) shape: Id,
    /// The number of functions that it represents.
    pub(super) weight: u64,
}

/// A row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) side: Side,
    pub(super) start: u64,
    pub(super) frame: PrintedFrame<Id>,
}

/// The coverage of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Covered {
    pub(super) functions: CoveredFunctions,
    pub(super) described_bytes: u64,
    pub(super) undecided_bytes: u64,
    pub(super) losses: Box<[Lost]>,
}

/// The functions that are undescribed for one cause.
#[derive(Debug, PartialEq)]
pub(super) struct Lost {
    pub(super) cause: Id,
    pub(super) functions: u64,
    /// The functions that are listed.
    pub(super) examples: Box<[Name]>,
}

impl File {
    pub(super) fn of(record: &Record<'_>, strings: &mut Strings) -> File {
        let functions = record.sections.iter().map(|section| section.functions);
        let sizes = record.sections.iter().map(|section| section.size);
        let counts = record.counts.iter();
        let coverage = record.coverage.as_ref();
        let details = Details {
            code_bytes: record.code_bytes,
            covered_bytes: record.covered_bytes,
            functions: functions.fold(0, u64::saturating_add),
            format: format(record).map(|format| strings.id(&format)),
            section_bytes: sizes.fold(0, u64::saturating_add),
            counts: counts.map(|c| (strings.id(&c.rule), c.severity, c.count)).collect(),
            items: record.findings.iter().map(|f| Item::of(f, record, strings)).collect(),
            coverage: coverage.map(|coverage| Box::new(Covered::of(coverage, strings))),
            producers: producers(record, strings),
            undecided: (record.undecided.iter())
                .map(|left| (left.cause, strings.id(&without_numbers(&left.reason))))
                .collect(),
        };
        File {
            path: Name::of(&record.path, record.path_hex.as_ref(), strings),
            inside: Name::maybe(record.inside.as_ref(), record.inside_hex.as_ref(), strings),
            member: Name::maybe(record.member.as_ref(), record.member_hex.as_ref(), strings),
            package: record.package.as_ref().map(|package| {
                let machine = package.architecture.as_ref();
                (strings.id(&package.name), machine.map(|machine| strings.id(machine)))
            }),
            content: record.content.as_ref().map(|content| strings.id(&content.hash)),
            reason: record.reason.as_ref().map(|reason| strings.id(reason)),
            status: record.status,
            is_proved: record.proofs.is_some(),
            has_call_sites: record.call_sites.is_some(),
            details: (details != *NOTHING).then(|| Box::new(details)),
        }
    }

    pub(super) fn has_lints(&self) -> bool {
        self.counts.iter().any(|(_, severity, count)| *severity == Severity::Lint && *count > 0)
    }
}

/// Orders files by name, and those with the same name by content.
pub(super) fn order(a: &File, b: &File, strings: &Strings) -> Ordering {
    let text = |id: Option<Id>| id.map(|id| strings.text(id));
    let name = |name: Option<Name>| (text(name.map(|n| n.text)), text(name.and_then(|n| n.hex)));
    let names = |file: &File| (name(Some(file.path)), name(file.inside), name(file.member));
    let content = |file: &File| (file.status, text(file.content), file.code_bytes);
    let sections = |file: &File| (text(file.format), file.section_bytes);
    let counted = |file: &File| (file.covered_bytes, file.functions, file.items.len());
    let counts = |file: &File| -> Vec<(String, u64)> {
        file.counts.iter().map(|(rule, _, n)| (strings.text(*rule).to_owned(), *n)).collect()
    };
    (names(a).cmp(&names(b)))
        .then_with(|| content(a).cmp(&content(b)))
        .then_with(|| sections(a).cmp(&sections(b)))
        .then_with(|| counted(a).cmp(&counted(b)))
        .then_with(|| counts(a).cmp(&counts(b)))
        .then_with(|| {
            let messages = |file: &'_ File| -> Vec<String> {
                file.items.iter().map(|item| strings.text(item.message).to_owned()).collect()
            };
            messages(a).cmp(&messages(b))
        })
}

/// The versions of a file's sections, each once; `None` if it has none whose header can be read.
fn format(record: &Record<'_>) -> Option<String> {
    let headers = record.sections.iter().filter_map(|section| section.header.as_ref());
    let versions: BTreeSet<u8> = headers.map(|header| header.version).collect();
    let versions: Vec<String> = versions.iter().map(|version| format!("V{version}")).collect();
    (!versions.is_empty()).then(|| versions.join(" and "))
}

fn producers(record: &Record<'_>, strings: &mut Strings) -> Box<[(Id, Id)]> {
    let mut found: Vec<(&str, String)> = (record.producers.iter())
        .map(|producer| match &producer.version {
            Some(version) => (producer.kind.as_str(), format!("{} {version}", producer.name)),
            None => (producer.kind.as_str(), producer.name.as_str().to_owned()),
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.iter().map(|(kind, name)| (strings.id(kind), strings.id(name))).collect()
}

impl Item {
    fn of(finding: &Finding<'_>, record: &Record<'_>, strings: &mut Strings) -> Item {
        let function = finding.function.as_ref();
        let code = finding.code.as_ref();
        let difference = finding.difference.as_ref();
        let section = finding.section.and_then(|position| record.sections.get(position));
        Item {
            rule: strings.id(&finding.rule),
            severity: finding.severity,
            needs: match (finding.rule_group(), finding.rule.as_str()) {
                (_, OF_CALL_SITES) => Needs::CallSites,
                (Some(Group::Comparison | Group::Cfi), _) => Needs::Cfi,
                (Some(Group::Code), _) => Needs::Code,
                _ => Needs::Section,
            },
            message: strings.id(&finding.message),
            section: section.map(|section| strings.id(&section.name)),
            symbol: symbol(finding, strings),
            symbol_offset: function.and_then(|function| function.symbol_offset).unwrap_or(0),
            field: (finding.field.as_ref())
                .map(|field| (strings.id(&field.name), strings.id(&field.value))),
            row: finding.row,
            index: function.map(|function| function.index),
            function: function.and_then(|function| function.start).map(|start| start.0),
            function_size: function.map(|function| function.size),
            code: code.map(|code| (code.start.0, code.end.0)),
            offset: finding.offset,
            difference: difference.map(|difference| fields(difference, strings)),
            compared_with: record.table.filter(|_| difference.is_some()),
            table: difference.map_or_else(Box::default, |d| table(d, strings)),
            shape: strings.id(&shape::of(finding)),
            weight: finding.weight(),
        }
    }

    /// Offset in bytes of the code from the start of the function.
    pub(super) fn relative(&self) -> Option<u64> {
        self.code.zip(self.function).and_then(|((start, _), function)| start.checked_sub(function))
    }

    /// The values of the rows that only one side has.
    pub(super) fn differing(&self) -> impl Iterator<Item = (Side, PrintedFrame<Id>)> {
        let differing = self.table.iter().filter(|line| line.side != Side::Both);
        differing.map(|line| (line.side, line.frame))
    }
}

fn symbol(finding: &Finding<'_>, strings: &mut Strings) -> Option<Name> {
    let function = finding.function.as_ref();
    let code = finding.code.as_ref();
    let of_function = function.and_then(|f| f.symbol.as_ref().map(|s| (s, f.symbol_hex.as_ref())));
    let of_code = || code.and_then(|c| c.symbol.as_ref().map(|s| (s, c.symbol_hex.as_ref())));
    let (text, hex) = of_function.or_else(of_code)?;
    Some(Name::of(text, hex, strings))
}

fn fields(difference: &Difference<'_>, strings: &mut Strings) -> Id {
    let names: Vec<&str> = difference.fields.iter().map(Text::as_str).collect();
    strings.id(&names.join(", "))
}

fn table(difference: &Difference<'_>, strings: &mut Strings) -> Box<[Line]> {
    let lines = difference.table.iter().map(|line| Line {
        side: line.side,
        start: line.start.0,
        frame: line.frame.as_ref().map(|text| strings.id(text)),
    });
    lines.collect()
}

impl Covered {
    fn of(coverage: &Coverage<'_>, strings: &mut Strings) -> Covered {
        let bytes = &coverage.bytes;
        let described = [bytes.equal, bytes.limited, bytes.different, bytes.only_sframe];
        let mut losses = Vec::with_capacity(coverage.losses.len());
        for loss in &coverage.losses {
            losses.push(Lost {
                cause: strings.id(&loss.cause),
                functions: loss.functions,
                examples: loss.examples.iter().filter_map(|e| example(e, strings)).collect(),
            });
        }
        Covered {
            functions: coverage.functions,
            described_bytes: described.into_iter().fold(0, u64::saturating_add),
            undecided_bytes: bytes.undecided,
            losses: losses.into(),
        }
    }

    /// The number of functions that CFI describes, and SFrame does not, or only partly.
    pub(super) fn undescribed(&self) -> u64 {
        self.losses.iter().map(|lost| lost.functions).fold(0, u64::saturating_add)
    }
}

/// The symbol of a function, if it starts at the symbol.
fn example(place: &FunctionPlace<'_>, strings: &mut Strings) -> Option<Name> {
    let at_start = place.symbol_offset.is_none_or(|offset| offset == 0);
    let symbol = place.symbol.as_ref().filter(|_| at_start)?;
    Some(Name::of(symbol, place.symbol_hex.as_ref(), strings))
}
