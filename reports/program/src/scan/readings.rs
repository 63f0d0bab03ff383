//! What consumers do with the sections of a file.

use sframe_consumers::{Assessment, Assessor, Consumer, Input, Objects, Relocated, is_module};
use sframe_record::Reading;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::elf_file::ElfFile;
use super::options::CheckOptions;
use crate::record::Names;
use crate::record::readings::reading;
use sframe_input::SectionSource;

/// What each consumer that the options name does with a file's sections. Relocatable objects have readings only for linkers
/// and, if they are modules, the kernel: the others see what a linker has made of their sections.
pub(super) fn of_file(file: &ElfFile<'_>, options: &CheckOptions) -> Vec<Reading<'static>> {
    if options.consumers.is_empty() {
        return Vec::new();
    }
    let Some(machine) = file.elf.abi() else { return Vec::new() };
    let readings = stored(file.sources).map(|source| {
        if file.elf.kind() == ElfKind::Relocatable {
            of_object(file, source, machine, options)
        } else {
            of_linked(source, machine, text(file.elf), file.names, options)
        }
    });
    together(readings)
}

/// Debug files have sections without bytes, which nothing loads.
fn stored<'s, 'a>(sources: &'s [SectionSource<'a>]) -> impl Iterator<Item = &'s SectionSource<'a>> {
    sources.iter().filter(|source| !source.data.is_empty())
}

/// The readings of all sections: of each consumer one.
fn together(mut sections: impl Iterator<Item = Vec<Reading<'static>>>) -> Vec<Reading<'static>> {
    let mut all = sections.next().unwrap_or_default();
    for readings in sections {
        all.iter_mut().zip(readings).for_each(|(sum, reading)| sum.add(reading));
    }
    all
}

/// The section of a relocatable object, in the order of the consumers.
fn of_object(
    file: &ElfFile<'_>,
    source: &SectionSource<'_>,
    machine: Abi,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let is_module = is_module(file.elf);
    let mut found = Vec::new();
    for objects in [Objects::Inputs, Objects::Modules] {
        let readers = options.consumers.iter().copied().enumerate();
        let mut readers = readers.filter(|(_, consumer)| consumer.objects() == objects).peekable();
        if readers.peek().is_some() && objects.include(is_module) {
            let assess = relocated(file, source, machine, objects);
            found.extend(readers.map(|(place, consumer)| (place, assess(consumer))));
        }
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, reading)| reading).collect()
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

/// The same for a bare section.
pub(super) fn of_raw(
    source: &SectionSource<'_>,
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let section = source.section.as_ref().ok();
    let Some(machine) = section.and_then(|section| section.abi().ok()) else { return Vec::new() };
    let sources = stored(std::slice::from_ref(source));
    together(sources.map(|source| of_linked(source, machine, None, names, options)))
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
