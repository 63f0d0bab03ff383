//! The functions of SFrame sections in the order of their addresses.

use sframe_validator::Section;
use sframe_validator::section::ErrorKind;
use sframe_validator::unwind::CodeAddress;

/// An SFrame function, as differences identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SframeFunction {
    /// The number of its section among those compared.
    pub section: u32,
    /// Its index in the section's table.
    pub index: u32,
    /// The start of the function.
    pub start: CodeAddress,
    /// The size in bytes of code.
    pub size: u32,
}

impl SframeFunction {
    /// Its end, exclusive, in the section of its start.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.address.saturating_add(self.size as u64)
    }
}

/// Functions whose start address cannot be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unplaced {
    count: u64,
    /// The sizes, in ascending order, of those that are not known to be discarded.
    sizes: Vec<u32>,
}

impl Unplaced {
    /// The number of these functions.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the code of all of them is known to be discarded.
    #[inline]
    pub(crate) const fn are_gone(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Whether a function of `size` bytes may exist.
    pub(crate) fn has_size(&self, size: u64) -> bool {
        u32::try_from(size).is_ok_and(|size| self.sizes.binary_search(&size).is_ok())
    }
}

/// The functions of all sections compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The functions with a start address and bytes, by address, then by size.
    pub(crate) functions: Vec<SframeFunction>,
    pub(crate) unplaced: Unplaced,
}

impl Places {
    pub(crate) fn of(sections: &[Section<'_>]) -> Places {
        let mut places = Places::default();
        for (number, section) in (0_u32..).zip(sections) {
            let count = usize::try_from(section.entry_count()).unwrap_or_default();
            places.functions.reserve(count);
            for entry in section.entries() {
                let (size, index) = (entry.size(), entry.index());
                match entry.start() {
                    Ok(_) if size == 0 => {}
                    Ok(start) => {
                        places.functions.push(SframeFunction {
                            section: number,
                            index,
                            start,
                            size,
                        });
                    }
                    Err(error) => {
                        places.unplaced.count += 1;
                        if error.kind != ErrorKind::Discarded {
                            places.unplaced.sizes.push(size);
                        }
                    }
                }
            }
        }
        let hidden = hidden(sections);
        if !hidden.is_empty() {
            places.functions.retain(|function| hidden.binary_search(&function.start).is_err());
        }
        let key = |function: &SframeFunction| (function.start, function.size);
        if !places.functions.is_sorted_by_key(key) {
            places.functions.sort_by_key(key);
        }
        places.unplaced.sizes.sort_unstable();
        places
    }

    /// Whether a function describes any of the `size` bytes from `start` on. If functions overlap, the one that starts
    /// last is found, so that no other reaches past its start.
    pub(crate) fn describe_any(&self, start: CodeAddress, size: u64) -> bool {
        let end = CodeAddress { address: start.address.saturating_add(size), ..start };
        let before = self.functions.partition_point(|function| function.start < end);
        let last = before.checked_sub(1).and_then(|number| self.functions.get(number));
        last.is_some_and(|last| last.start.section == start.section && start.address < last.end())
    }
}

/// The starts, in ascending order, of [functions that no search finds](Section::hidden_functions).
pub(crate) fn hidden(sections: &[Section<'_>]) -> Vec<CodeAddress> {
    let entries = sections.iter().flat_map(Section::hidden_functions);
    let mut hidden: Vec<_> = entries.filter_map(|(entry, _)| entry.start().ok()).collect();
    hidden.sort_unstable();
    hidden.dedup();
    hidden
}

#[cfg(test)]
mod tests {
    use sframe_validator::Abi;
    use sframe_validator::section::Version;
    use sframe_validator::write::{FunctionBuilder, SectionBuilder};
    use sframe_validator::{Placement, Section};

    use super::*;

    /// Two sections, of which the second has the first function. Functions without bytes are left out.
    #[test]
    fn functions_of_all_sections_are_in_order() {
        let section = |starts: &[(u64, u32)]| {
            let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
            for (start, size) in starts {
                builder.function(FunctionBuilder::new(*start, *size));
            }
            builder.build().expect("a section").bytes
        };
        let (one, two) =
            (section(&[(0x20, 8), (0x28, 0), (0x40, 8)]), section(&[(0x10, 8), (0x30, 8)]));
        let parse = |bytes| Section::parse(bytes, Placement::at(0)).expect("a section");
        let sections = [parse(one.as_slice()), parse(two.as_slice())];
        let places = Places::of(&sections);
        let found: Vec<_> =
            places.functions.iter().map(|f| (f.section, f.index, f.end())).collect();
        assert_eq!(found, [(1, 0, 0x18), (0, 0, 0x28), (1, 1, 0x38), (0, 2, 0x48)]);
        assert!(places.unplaced.are_gone() && places.unplaced.count() == 0);
    }

    /// Hidden is what comes before a function without bytes and with the same start, if the table is searched.
    #[test]
    fn a_function_without_bytes_hides_the_one_before_it() {
        let places = [(0x10, 8), (0x10, 0), (0x20, 0), (0x20, 8), (0x30, 8), (0x38, 0), (0x38, 0)];
        let found = |is_sorted| {
            let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
            for (start, size) in places {
                builder.function(FunctionBuilder::new(start, size));
            }
            let mut bytes = builder.build().expect("a section").bytes;
            // `sfp_flags`: SFRAME_F_FDE_SORTED is bit 0 (V2 2.1).
            let flags = bytes.get_mut(3).expect("a preamble");
            *flags = if is_sorted { *flags | 1 } else { *flags & !1 };
            let section = Section::parse(&bytes, Placement::at(0)).expect("a section");
            let places = Places::of(&[section]);
            places.functions.iter().map(|function| function.start.address).collect::<Vec<_>>()
        };
        assert_eq!(found(true), [0x20, 0x30]);
        assert_eq!(found(false), [0x10, 0x20, 0x30]);
    }

    #[test]
    fn a_function_describes_code_that_it_overlaps() {
        let function = |section, address, size| {
            let start = CodeAddress { section, address };
            SframeFunction { section: 0, index: 0, start, size }
        };
        let functions = vec![function(1, 0x10, 0x10), function(1, 0x30, 8), function(2, 0x10, 8)];
        let places = Places { functions, ..Places::default() };
        for (section, address, size, wanted) in [
            (1, 0, 0x10, false),
            (1, 0, 0x11, true),
            (1, 0x1f, 1, true),
            (1, 0x20, 0x10, false),
            (1, 0x20, 0x11, true),
            (1, 0x18, 0x100, true),
            (1, 0x38, 0x100, false),
            (2, 0, 0x10, false),
            (2, 8, 0x10, true),
            (2, 0x18, 8, false),
            (3, 0x10, 8, false),
            (0, 0x10, 8, false),
        ] {
            let start = CodeAddress { section, address };
            assert_eq!(
                places.describe_any(start, size),
                wanted,
                "{section} {address:#x} {size:#x}"
            );
        }
    }
}
