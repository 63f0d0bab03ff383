//! What consumers do with the sections of a file.

use sframe_consumers::{Consumer, Input, assess};
use sframe_record::Reading;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::elf_file::ElfFile;
use super::options::CheckOptions;
use crate::record::Names;
use crate::record::readings::reading;
use sframe_input::SectionSource;

/// What each consumer that the options name does with a file's sections. None for relocatable objects: a consumer sees
/// their sections only after a linker or the kernel has relocated them.
pub(super) fn of_file(file: &ElfFile<'_>, options: &CheckOptions) -> Vec<Reading<'static>> {
    if file.elf.kind() == ElfKind::Relocatable {
        return Vec::new();
    }
    let Some(machine) = file.elf.abi() else { return Vec::new() };
    let text = text(file.elf);
    of_sources(file.sources, machine, text, file.names, options)
}

/// The same for a bare section.
pub(super) fn of_raw(
    source: &SectionSource<'_>,
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let section = source.section.as_ref().ok();
    let Some(machine) = section.and_then(|section| section.abi().ok()) else { return Vec::new() };
    of_sources(std::slice::from_ref(source), machine, None, names, options)
}

fn of_sources(
    sources: &[SectionSource<'_>],
    machine: Abi,
    text: Option<(u64, u64)>,
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> Vec<Reading<'static>> {
    let of = |consumer: &&'static dyn Consumer| {
        // Debug files have sections without bytes, which nothing loads.
        let stored = sources.iter().filter(|source| !source.data.is_empty());
        let mut readings = stored.map(|source| {
            let input = Input::new(source.data, source.placement.address, machine);
            let input = text.map_or(input, |(start, end)| input.with_text(start, end));
            reading(assess(&input, *consumer), source.section.as_ref().ok(), names)
        });
        let mut first = readings.next()?;
        readings.for_each(|next| first.add(next));
        Some(first)
    };
    options.consumers.iter().filter_map(of).collect()
}

/// The first address of the file's executable code, and the first one after it.
fn text(elf: &Elf<'_>) -> Option<(u64, u64)> {
    let range =
        |(start, size): (CodeAddress, u64)| (start.address, start.address.saturating_add(size));
    elf.executable().map(range).reduce(|(start, end), (from, to)| (start.min(from), end.max(to)))
}
