//! The rows of SFrame sections by address.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::section::{Error, Function, Placement};
use sframe_validator::unwind::CodeAddress;

use crate::statement::{FurtherRules, Silence, Statement};

/// The SFrame sections of a file.
pub(super) struct SframeSource<'s> {
    sections: Vec<Readable<'s>>,
    /// Why a section cannot be read at all.
    defect: Option<String>,
}

/// A section with a readable header.
struct Readable<'s> {
    section: Section<'s>,
    /// If the table is not sorted: the functions with their starts and ends, by start.
    index: Option<Vec<(u64, u64, u32)>>,
}

impl<'s> SframeSource<'s> {
    pub(super) fn new(elf: &Elf<'s>) -> SframeSource<'s> {
        let mut source = SframeSource { sections: Vec::new(), defect: None };
        for found in elf.sframe_contents() {
            let placement = Placement::at(found.header.address).with_abi(elf.abi());
            let section = match found.data {
                // Linkers leave an empty section if they discard all functions.
                Ok([]) => continue,
                Ok(data) => Section::parse(data, placement).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match section {
                Ok(section) => source.sections.push(Readable::new(section)),
                Err(reason) => source.defect = source.defect.or(Some(format!("SFrame: {reason}"))),
            }
        }
        source
    }

    /// The statement about an address of the file. The first section that describes it is used.
    pub(super) fn at(&self, address: u64) -> Statement {
        // A function without rows makes no statement; the next section may.
        let mut without_row = None;
        for statement in self.sections.iter().filter_map(|readable| readable.at(address)) {
            if statement.row != Err(Silence::NoRow) {
                return statement;
            }
            without_row = without_row.or(Some(statement));
        }
        without_row.unwrap_or_else(|| self.nothing())
    }

    fn nothing(&self) -> Statement {
        Statement::nothing(match &self.defect {
            Some(reason) => Silence::Unreadable(reason.clone()),
            None if self.sections.is_empty() => Silence::NoSection,
            None => Silence::NoFunction,
        })
    }
}

impl<'s> Readable<'s> {
    fn new(section: Section<'s>) -> Readable<'s> {
        let index = (!section.header().flags.sorted()).then(|| index(&section));
        Readable { section, index }
    }

    /// The statement about an address; `None` if no function contains it.
    fn at(&self, address: u64) -> Option<Statement> {
        let number = match &self.index {
            Some(index) => {
                let after = index.partition_point(|(start, ..)| *start <= address);
                let (_, _, number) =
                    index.get(after.checked_sub(1)?).filter(|(_, end, _)| address < *end)?;
                *number
            }
            None => return self.sorted(address),
        };
        Some(statement(self.section.entry(number)?.function(), address))
    }

    fn sorted(&self, address: u64) -> Option<Statement> {
        let found = self.section.find_function(CodeAddress::absolute(address)).transpose()?;
        Some(statement(found, address))
    }
}

/// The functions of a table that is not sorted, by address. Where functions overlap, the one that starts last is found.
fn index(section: &Section<'_>) -> Vec<(u64, u64, u32)> {
    let mut index: Vec<(u64, u64, u32)> = section
        .entries()
        .filter(|entry| entry.size() > 0)
        .filter_map(|entry| {
            let start = entry.start().ok()?.address;
            Some((start, start.saturating_add(entry.size().into()), entry.index()))
        })
        .collect();
    index.sort_unstable();
    index
}

/// The statement of the function that contains an address.
fn statement(function: Result<Function<'_>, Error>, address: u64) -> Statement {
    let unreadable =
        |error: Error| Statement::nothing(Silence::Unreadable(format!("SFrame: {error}")));
    let function = match function {
        Ok(function) => function,
        Err(error) => return unreadable(error),
    };
    let start = match function.start() {
        Ok(start) => start.address,
        Err(error) => return unreadable(error),
    };
    Statement {
        function: Some((start, start.saturating_add(function.size().into()))),
        row: match function.find_row(address) {
            Ok(row) => row.ok_or(Silence::NoRow),
            Err(error) => Err(Silence::Unreadable(format!("SFrame: {error}"))),
        },
        signal: function.is_signal_frame(),
        further: FurtherRules::NONE,
    }
}
