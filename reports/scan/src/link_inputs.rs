//! Checks whether the members of an archive can be linked with each other.

use std::collections::HashSet;

use sframe_validator::Endian;
use sframe_validator::check::Checker;
use sframe_validator::finding::HeaderSummary;

use super::options::CheckOptions;
use crate::describe::{Comparison, Names, checked};
use sframe_record::text::printable;
use sframe_record::{FileName, Record, Status};

/// The members of an archive as inputs of one link. Keeps the first member of each kind, because members of the same
/// kind can be linked.
#[derive(Default)]
pub(super) struct LinkInputs {
    first_of_kind: Vec<(String, HeaderSummary)>,
    kinds: HashSet<[u8; 6]>,
}

impl LinkInputs {
    /// Adds the member called `name`.
    pub(super) fn add(&mut self, record: &Record<'_>, name: &[u8]) {
        let mut headers =
            record.sections.iter().filter_map(|section| section.header.as_ref()?.summary());
        if let Some(header) = headers.next().filter(|header| self.kinds.insert(kind(header))) {
            self.first_of_kind.push((printable(name), header));
        }
    }

    /// The findings; `None` if all members match.
    pub(super) fn check(&self, name: &FileName, options: &CheckOptions) -> Option<Record<'static>> {
        let inputs: Vec<(&str, HeaderSummary)> =
            self.first_of_kind.iter().map(|(name, header)| (name.as_str(), *header)).collect();
        let mut report = Checker::new(&options.validator).link_set(&inputs);
        options.select(&mut report);
        let record = checked(report, &[], &Names::of(None), Comparison::default());
        let found = !record.counts.is_empty();
        found.then(|| Record { status: Status::Archive, ..record }.named(name))
    }
}

/// The properties that the inputs of one link must share (rule `mixed-inputs`).
fn kind(header: &HeaderSummary) -> [u8; 6] {
    let (fp, ra) = (header.fixed_fp_offset, header.fixed_ra_offset);
    let endian = u8::from(header.endian == Endian::Big);
    let abi = header.abi.map_or(0, |abi| abi.id());
    let flags = u8::from(header.flags.pcrel());
    [header.version.number(), abi, endian, fp.cast_unsigned(), ra.cast_unsigned(), flags]
}
