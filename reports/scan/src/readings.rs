//! What consumers do with the sections of a file.

use sframe_consumers::{Assessment, Assessor, Consumer, Input, Objects, Relocated, is_module};
use sframe_record::{Outcome, ReadBytes, ReadFunctions, Reading};
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind, ReplacedCode};
use sframe_validator::unwind::CodeAddress;

use super::elf_file::ElfFile;
use super::options::CheckOptions;
use crate::describe::Names;
use crate::describe::readings::reading;
use sframe_input::SectionSource;

/// What each consumer that the options name does with a file's sections. A file with a section has a reading for each of
/// them, even if the consumer never sees the section.
pub(super) fn of_file(file: &ElfFile<'_>, options: &CheckOptions) -> Vec<Reading<'static>> {
    if options.consumers.is_empty() {
        return Vec::new();
    }
    let Some(machine) = file.elf.abi() else {
        return unseen(file.sources, options, "SFrame is not defined for the machine");
    };
    let replaced = file.elf.replaced_code();
    let mut readings = stored(file.sources).map(|source| {
        if file.elf.kind() == ElfKind::Relocatable {
            return of_object(file, source, machine, options);
        }
        let mut readings = of_linked(source, machine, text(file.elf), file.names, options);
        let stale = replaced.as_ref().map_or(0, |replaced| number_replaced(source, replaced));
        readings.iter_mut().for_each(|reading| reading.functions.replaced = stale);
        readings
    });
    match readings.next() {
        Some(first) => together(first, readings),
        None => unseen(file.sources, options, "the section has no bytes in this file"),
    }
}

/// The number of a section's functions whose code was replaced.
fn number_replaced(source: &SectionSource<'_>, replaced: &ReplacedCode<'_, '_>) -> u64 {
    let entries = source.section.iter().flat_map(|section| section.entries());
    let starts = entries.filter(|entry| entry.size() > 0).filter_map(|entry| entry.start().ok());
    starts.filter(|start| replaced.contains(*start)).count() as u64
}

/// The readings of a file with sections that no consumer sees.
fn unseen(
    sources: &[SectionSource<'_>],
    options: &CheckOptions,
    reason: &'static str,
) -> Vec<Reading<'static>> {
    let of = |consumer: &&dyn Consumer| ignored(*consumer, reason);
    if sources.is_empty() { Vec::new() } else { options.consumers.iter().map(of).collect() }
}

/// The reading of a section that the consumer never sees. Its functions and code are in no count.
fn ignored(consumer: &dyn Consumer, reason: &'static str) -> Reading<'static> {
    Reading {
        consumer: consumer.page().name.into(),
        outcome: Outcome::Ignore,
        reason: Some(reason.into()),
        functions: ReadFunctions::default(),
        bytes: ReadBytes::default(),
        examples: Vec::new(),
    }
}

/// Debug files have sections without bytes, which nothing loads.
fn stored<'s, 'a>(sources: &'s [SectionSource<'a>]) -> impl Iterator<Item = &'s SectionSource<'a>> {
    sources.iter().filter(|source| !source.data.is_empty())
}

/// The readings of all sections: of each consumer one.
fn together(
    first: Vec<Reading<'static>>,
    others: impl Iterator<Item = Vec<Reading<'static>>>,
) -> Vec<Reading<'static>> {
    let mut all = first;
    for readings in others {
        all.iter_mut().zip(readings).for_each(|(sum, reading)| sum.add(reading));
    }
    all
}

/// The section of a relocatable object, in the order of the consumers. Linkers read it, and the kernel if it is a module:
/// the others see what a linker has made of it.
fn of_object(
    file: &ElfFile<'_>,
    source: &SectionSource<'_>,
    machine: Abi,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let is_module = is_module(file.elf);
    let readers = [Objects::Inputs, Objects::Modules].map(|objects| {
        let is_read = |consumer: &&dyn Consumer| consumer.objects() == objects;
        let is_seen = is_module || objects != Objects::Modules;
        let is_wanted = is_seen && options.consumers.iter().any(is_read);
        is_wanted.then(|| (objects, relocated(file, source, machine, objects)))
    });
    let reading = |consumer: &&dyn Consumer| {
        let mut readers = readers.iter().flatten();
        match readers.find(|(objects, _)| *objects == consumer.objects()) {
            Some((_, assess)) => assess(*consumer),
            None => ignored(*consumer, unread_object(consumer.objects())),
        }
    };
    options.consumers.iter().map(reading).collect()
}

/// Why a consumer does not see a relocatable object.
const fn unread_object(objects: Objects) -> &'static str {
    match objects {
        Objects::Modules => "of relocatable objects, it reads modules of the kernel only",
        Objects::None | Objects::Inputs => "a relocatable object, which only linkers read",
    }
}

/// What consumers do with a section that such a reader of objects relocates.
fn relocated<'s>(
    file: &'s ElfFile<'_>,
    source: &'s SectionSource<'_>,
    machine: Abi,
    objects: Objects,
) -> impl Fn(&dyn Consumer) -> Reading<'static> + 's {
    let index = source.index.unwrap_or_default();
    let relocated = Relocated::of(file.elf, index, source.data, machine, objects);
    move |consumer| {
        let section = source.section.as_ref().ok();
        match &relocated {
            Ok(relocated) => {
                let assessment = Assessor::new(relocated.input()).assess_object(consumer);
                reading(assessment, section, file.names, &|address| relocated.place(address))
            }
            Err(reason) => {
                let assessment = Assessment::undecided(consumer, reason);
                reading(assessment, section, file.names, &CodeAddress::absolute)
            }
        }
    }
}

/// What consumers do with a bare section.
pub(super) fn of_raw(
    source: &SectionSource<'_>,
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let section = source.section.as_ref().ok();
    match section.and_then(|section| section.abi().ok()) {
        Some(machine) => of_linked(source, machine, None, names, options),
        None => {
            let reason = "the section does not say for which machine it is";
            let undecided = |of: &&dyn Consumer| Assessment::undecided(*of, reason);
            let assessments = options.consumers.iter().map(undecided);
            assessments.map(|of| reading(of, None, names, &CodeAddress::absolute)).collect()
        }
    }
}

/// The section of a linked file.
fn of_linked(
    source: &SectionSource<'_>,
    machine: Abi,
    text: Option<(u64, u64)>,
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let input = Input::new(source.data, source.placement.address, machine);
    let input = text.map_or(input, |(start, end)| input.with_text(start, end));
    let assessor = Assessor::new(input);
    let section = source.section.as_ref().ok();
    let assessments = options.consumers.iter().map(|consumer| assessor.assess(*consumer));
    assessments.map(|of| reading(of, section, names, &CodeAddress::absolute)).collect()
}

/// The first address of the file's executable code, and the first one after it.
fn text(elf: &Elf<'_>) -> Option<(u64, u64)> {
    let range =
        |(start, size): (CodeAddress, u64)| (start.address, start.address.saturating_add(size));
    elf.executable().map(range).reduce(|(start, end), (from, to)| (start.min(from), end.max(to)))
}
