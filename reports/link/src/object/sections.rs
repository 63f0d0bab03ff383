//! The code and the SFrame sections of a relocatable object.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectComdat as _};
use sframe_record::text::printable;
use sframe_validator::elf::{Elf, ElfError, SHT_GNU_SFRAME, SHT_PROGBITS, SframeSection};
use sframe_validator::section::{Preamble, RowBudget};
use sframe_validator::{Endian, Section, section};

use crate::input::{Group, Header, Input, Misread, References, SectionType, Sframe};

/// The alignment of instructions of s390x.
const S390X_INSTRUCTION: u64 = 2;

/// The number of a group in [`Input::groups`], by index of a section.
type Groups = BTreeMap<u32, usize>;

/// Adds what the sections of an object show.
pub(super) fn add(elf: &Elf<'_>, file: Option<&ElfFile64<'_, Endianness>>, input: &mut Input) {
    let groups = file.map(|file| groups(elf, file, input)).unwrap_or_default();
    for section in elf.code_sections() {
        input.code = input.code.saturating_add(section.size);
        // GNU as aligns the code of other machines itself, and compilers align that of s390x.
        if input.machine == "s390x" && section.size > 0 && section.alignment < S390X_INSTRUCTION {
            input.unaligned.get_or_insert_with(|| printable(section.name.bytes()));
        }
        if let Some(group) =
            groups.get(&section.index).and_then(|&group| input.groups.get_mut(group))
        {
            group.code = group.code.saturating_add(section.size);
            if group.section.is_empty() {
                group.section = printable(section.name.bytes());
            }
        }
    }
    for content in elf.sframe_contents() {
        refer(elf, &content, &groups, input);
        let section = read(&content, &groups, input);
        input.sframe.push(section);
    }
    if elf.further_sframe_sections() > 0 {
        let further = elf.further_sframe_sections();
        input.faults.push(format!("{further} more SFrame sections are not read"));
    }
    input.groups.retain(|group| group.code > 0);
}

fn groups(elf: &Elf<'_>, file: &ElfFile64<'_, Endianness>, input: &mut Input) -> Groups {
    let mut groups = Groups::new();
    for comdat in file.comdats() {
        let signature = printable(comdat.name_bytes().unwrap_or_default());
        let number = input.groups.len();
        input.groups.push(Group { signature, ..Group::default() });
        // The sections of valid groups are disjoint. In others, every section counts once.
        let room = elf.sections().len().saturating_sub(groups.len());
        for section in comdat.sections().take(room) {
            groups.entry(u32::try_from(section.0).unwrap_or(u32::MAX)).or_insert(number);
        }
    }
    groups
}

/// Adds where an SFrame section refers to the sections of groups.
fn refer(elf: &Elf<'_>, content: &SframeSection<'_>, groups: &Groups, input: &mut Input) {
    let Ok(table) = &content.relocations else { return };
    let named = elf.sections().iter().filter(|section| groups.contains_key(&section.index));
    let names: BTreeMap<u32, String> =
        named.map(|section| (section.index, printable(section.name.bytes()))).collect();
    let mut places: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for start in table.starts() {
        let index = start.target.map(|target| target.section);
        if let Some(index) = index.filter(|index| groups.contains_key(index)) {
            places.entry(index).or_default().push(start.field_offset);
        }
    }
    let mut places: Vec<(u32, Vec<u64>)> = places.into_iter().collect();
    places.sort_by_key(|(_, places)| places.first().copied());
    for (index, places) in places {
        let group = groups.get(&index).and_then(|&group| input.groups.get_mut(group));
        let name = names.get(&index).cloned();
        if let (Some(group), Some(section)) = (group, name) {
            group.references.push(References { section, places });
        }
    }
}

fn read(content: &SframeSection<'_>, groups: &Groups, input: &mut Input) -> Sframe {
    let mut sframe = Sframe {
        section_type: match content.header.sh_type {
            SHT_PROGBITS => SectionType::Progbits,
            SHT_GNU_SFRAME => SectionType::GnuSframe,
            other => SectionType::Other(other),
        },
        size: content.header.size,
        alignment: content.header.alignment,
        relocated: content.relocations.as_ref().is_ok_and(|table| !table.starts().is_empty()),
        ..Sframe::default()
    };
    let data = match content.data {
        Ok(data) => data,
        Err(error) => return Sframe { fault: Some(error.to_string()), ..sframe },
    };
    sframe.header = header(data, input);
    if !data.is_empty()
        && let Err(fault) = describe(content, data, &mut sframe, groups, input)
    {
        sframe.fault = Some(fault.to_string());
    }
    sframe
}

/// The fields of the preamble, which all versions share, even if the rest cannot be read.
fn header(data: &[u8], input: &Input) -> Option<Header> {
    let Preamble { endian, version, flags } = Preamble::read(data)?;
    // The ABI follows the preamble.
    let abi = *data.get(4)?;
    Some(Header {
        version,
        flags: flags.0,
        sorted: flags.sorted(),
        frame_pointer: flags.frame_pointer(),
        pc_relative: flags.pcrel(),
        abi,
        swapped: (endian == Endian::Big) != input.big_endian,
    })
}

/// Why an SFrame section cannot be described.
#[derive(Debug)]
enum SframeFault {
    /// Its relocations cannot be read.
    File(ElfError),
    /// Its header cannot be read.
    Section(section::Error),
}

impl fmt::Display for SframeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SframeFault::File(error) => error.fmt(f),
            SframeFault::Section(error) => error.fmt(f),
        }
    }
}

impl Error for SframeFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SframeFault::File(error) => Some(error),
            SframeFault::Section(error) => Some(error),
        }
    }
}

fn describe(
    content: &SframeSection<'_>,
    data: &[u8],
    sframe: &mut Sframe,
    groups: &Groups,
    input: &mut Input,
) -> Result<(), SframeFault> {
    let placement = content.placement().map_err(SframeFault::File)?;
    let section = Section::parse(data, placement).map_err(SframeFault::Section)?;
    let mut budget = section.row_budget();
    sframe.functions = section.entry_count().into();
    let is_big = input.big_endian && input.machine == "AArch64";
    sframe.misread = misread(&section).filter(|_| is_big && sframe.version() == Some(1));
    for entry in section.entries() {
        sframe.described = sframe.described.saturating_add(entry.size().into());
        let index = entry.start().ok().map(|start| start.section);
        let group = index.and_then(|index| groups.get(&index));
        if let Some(group) = group.and_then(|&group| input.groups.get_mut(group)) {
            group.functions = group.functions.saturating_add(1);
            group.described = group.described.saturating_add(entry.size().into());
        }
        sframe.row_after_end |= ends_before_a_row(entry, &mut budget);
    }
    Ok(())
}

/// What follows from taking the second function for one that starts three bytes later: the lowest byte of the offset of its rows
/// becomes the highest, and so does that of their number. `None` if there are no functions.
fn misread(section: &Section<'_>) -> Option<Misread> {
    let mut entries = section.entries();
    entries.next()?;
    let Some(second) = entries.next() else { return Some(Misread::Refused) };
    let rows = second.function().map_or(0, |function| function.num_rows());
    let [.., offset] = second.fre_offset().to_be_bytes();
    let [.., number] = rows.to_be_bytes();
    Some(match (offset, number) {
        (1.., 1..) => Misread::Crashes,
        _ => Misread::Undecided,
    })
}

/// Whether a function with code has a row that does not start before its end.
fn ends_before_a_row(entry: section::FunctionEntry<'_>, budget: &mut RowBudget) -> bool {
    let Ok(function) = entry.function() else { return false };
    let Ok(rows) = function.frame_row_entries() else { return false };
    for row in rows {
        let Ok(row) = row else { return false };
        if budget.charge(&row).is_err() {
            return false;
        }
        if function.size() > 0 && row.start >= function.size() {
            return true;
        }
    }
    false
}
