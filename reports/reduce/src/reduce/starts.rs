//! The inputs to begin with.

use sframe_record::Finding;
use sframe_validator::elf::{Elf, ElfKind};

use super::Task;
use crate::error::ReadError;
use crate::inputs::{Input, Inputs};
use crate::linker::{Linker, NO_LIBRARIES};
use crate::read::{Place, Which, read};
use crate::source::{CALLED, Code, Function, Part, Reference, Source};
use crate::spelling::spellings;

/// The numbers of functions before and after that of the finding that are tried with it.
const NEIGHBOURS: [usize; 2] = [16, 1024];
/// Options that decide what a linker makes.
const KINDS: [&str; 7] =
    ["-shared", "--shared", "-r", "--relocatable", "-pie", "-static", "-no-pie"];
/// How functions of other files are used: called, or called and their address taken.
const REFERENCES: [Reference; 5] = [
    Reference::Call(CALLED),
    Reference::Address("taken"),
    Reference::Call("taken"),
    Reference::Call("called2"),
    Reference::Call("called3"),
];

type Started = Result<Inputs, ReadError>;

/// The inputs to begin with: the function of the finding alone, then in other spellings, and then with more and more others,
/// because some findings need them. For a link, each in several objects.
pub(super) fn starts<'t>(task: &'t Task<'_>) -> Box<dyn Iterator<Item = Started> + 't> {
    match task.linker {
        None => Box::new(read_for_object(task).map(|source| source.map(Inputs::from))),
        Some(_) => Box::new(for_link(task)),
    }
}

fn read_for_object<'t>(task: &'t Task<'_>) -> impl Iterator<Item = Result<Source, ReadError>> + 't {
    let place = place(task.finding);
    let alone = alone(task, place.as_ref());
    let respelled = task.respell || task.finding.known.is_some();
    let alone = alone.into_iter().flat_map(move |source| match source {
        Ok(source) if respelled => {
            let others: Vec<Source> = spellings(&source).collect();
            std::iter::once(source).chain(others).map(Ok).collect()
        }
        other => vec![other],
    });
    alone.chain(with_others(task, place))
}

/// The function of the finding; two if they are in sections of the same name.
fn alone(task: &Task<'_>, place: Option<&Place>) -> Vec<Result<Source, ReadError>> {
    match place.map(|place| read(task.elf, Which::At(place))) {
        None => Vec::new(),
        Some(Ok(source)) => {
            let each = source.functions.into_iter();
            let alone = each.map(|function| Source { functions: vec![function], abi: source.abi });
            alone.map(Ok).collect()
        }
        Some(Err(why)) => vec![Err(why)],
    }
}

/// The functions around that of the finding, in larger and larger numbers.
fn with_others<'t>(
    task: &'t Task<'_>,
    place: Option<Place>,
) -> impl Iterator<Item = Result<Source, ReadError>> + 't {
    let around = NEIGHBOURS.into_iter().filter_map(move |count| {
        place.as_ref().map(|place| read(task.elf, Which::Around(place, count)))
    });
    around.chain(std::iter::once_with(|| read(task.elf, Which::All)))
}

/// The place of a finding, if it is about code.
fn place(finding: &Finding<'_>) -> Option<Place> {
    let of_code = finding.code.as_ref().map(|code| (Some(code.start), &code.code_section));
    let of_function =
        finding.function.as_ref().map(|function| (function.start, &function.code_section));
    let (address, section) = of_code.or(of_function)?;
    let section = section.as_ref().map(|section| section.as_str().to_owned());
    Some(Place { section, address: address?.0 })
}

/// The inputs of links: first a function without a meaning, because many defects of linkers need no special one; then the
/// functions of the file.
fn for_link<'t>(task: &'t Task<'_>) -> impl Iterator<Item = Started> + 't {
    let place = place(task.finding);
    let plain = task.elf.abi().map(|abi| Ok(Source { abi, functions: vec![plain()] }));
    let alone = alone(task, place.as_ref()).into_iter().map(|source| source.map(without_stubs));
    let alone = alone.filter(|source| source.as_ref().is_ok_and(|of| !of.functions.is_empty()));
    let others = with_others(task, place).map(|source| source.map(without_stubs));
    let all = plain.into_iter().chain(alone).chain(others);
    all.flat_map(move |source| match source {
        Ok(source) => {
            let kinds = kinds(task).into_iter();
            let links = kinds.flat_map(|kind| links(task, &source, &kind)).map(Ok);
            links.collect::<Vec<_>>()
        }
        Err(why) => vec![Err(why)],
    })
}

/// A function without a meaning.
fn plain() -> Function {
    Function {
        label: "plain".to_owned(),
        section: ".text".to_owned(),
        is_typed: true,
        simple: false,
        parts: vec![Part::Code(Code::Nop)],
    }
}

/// The linker makes stubs itself, and only from references.
fn without_stubs(mut source: Source) -> Source {
    let is_stub = |name: &str| [".plt", ".iplt"].iter().any(|start| name.starts_with(start));
    source.functions.retain(|function| !is_stub(function.section.trim_matches('"')));
    source
}

/// What a linker makes: options, and whether functions of other files may be used.
#[derive(Clone)]
struct Kind {
    options: Vec<String>,
    has_references: bool,
}

/// The kinds of outputs to try: that of the file first.
fn kinds(task: &Task<'_>) -> Vec<Kind> {
    let kind = |options: &[&str], has_references| Kind {
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        has_references,
    };
    let is_chosen = task.linker.is_some_and(|linker| KINDS.iter().any(|kind| linker.has(kind)));
    let mut kinds = match task.elf.kind() {
        _ if is_chosen => vec![kind(&[], true), kind(&[], false)],
        ElfKind::Relocatable => vec![kind(&["-r"], false)],
        _ => {
            vec![kind(&["-shared"], true), kind(&["-shared"], false), kind(&["-e 0"], false)]
        }
    };
    if has_section(task.elf, b".plt.sec") {
        let stubs = kinds.iter().filter(|kind| kind.has_references).cloned();
        let stubs: Vec<Kind> = stubs.map(|kind| kind.with("-z ibtplt")).collect();
        kinds.splice(0..0, stubs);
    }
    if task.linker.is_some_and(Linker::is_driver) {
        // What the finding does not need is left out first.
        let alone: Vec<Kind> = kinds.iter().map(|kind| kind.clone().with(NO_LIBRARIES)).collect();
        kinds.splice(0..0, alone);
    }
    kinds
}

impl Kind {
    fn with(mut self, option: &str) -> Kind {
        self.options.push(option.to_owned());
        self
    }
}

fn has_section(elf: &Elf<'_>, name: &[u8]) -> bool {
    elf.sections().iter().any(|section| section.name.bytes() == name)
}

/// A link of two objects, then of one: a defect of a linker that appends sections hides others. If there are several
/// assemblers, an object for each.
fn links(task: &Task<'_>, source: &Source, kind: &Kind) -> Vec<Inputs> {
    let counts = match task.assemblers.len() {
        0 | 1 => vec![2, 1],
        assemblers => vec![assemblers],
    };
    counts.into_iter().map(|count| link(task, source, kind, count)).collect()
}

/// A link of this many objects. Functions are divided among them; too few are repeated.
fn link(task: &Task<'_>, source: &Source, kind: &Kind, count: usize) -> Inputs {
    let length = source.functions.len().div_ceil(count).max(1);
    let part = |number: usize| match source.functions.len() < count {
        true => source.functions.clone(),
        false => source.functions.iter().skip(number * length).take(length).cloned().collect(),
    };
    let sources = (0..count).map(|number| Input {
        source: Source { abi: source.abi, functions: part(number) },
        assembler: number % task.assemblers.len().max(1),
    });
    let mut inputs = Inputs { sources: sources.collect(), options: kind.options.clone() };
    if kind.has_references
        && let Some(first) = inputs.sources.first_mut()
    {
        first.source.functions.push(caller());
    }
    inputs
}

/// A function for whose code the linker makes stubs.
fn caller() -> Function {
    let references = REFERENCES.into_iter().map(Code::Reference).map(Part::Code);
    Function { label: "caller".to_owned(), parts: references.collect(), ..plain() }
}
