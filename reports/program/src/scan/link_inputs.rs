//! The members of an archive taken together.

use std::collections::HashSet;
use std::sync::Arc;

use sframe_validator::Endian;
use sframe_validator::check::check_link_set;
use sframe_validator::finding::HeaderSummary;

use super::options::CheckOptions;
use crate::report::{Checked, Comparison, FileName, FileReport, Names, Outcome};

/// The members of an archive as inputs of one link: the first one of each kind, for members that
/// are alike can be linked.
#[derive(Default)]
pub(super) struct LinkInputs {
    first_of_kind: Vec<(String, HeaderSummary)>,
    kinds: HashSet<[u8; 6]>,
}

impl LinkInputs {
    pub(super) fn add(&mut self, report: &FileReport) {
        let Outcome::Checked(checked) = &report.outcome else { return };
        let header = checked.sections.iter().find_map(|section| section.header);
        if let Some(header) = header.filter(|header| self.kinds.insert(kind(header))) {
            self.first_of_kind.push((report.name.member_display(), header));
        }
    }

    /// What is wrong with them; `None` where they match.
    pub(super) fn check(&self, name: &FileName, options: &CheckOptions) -> Option<FileReport> {
        let inputs: Vec<(&str, HeaderSummary)> =
            self.first_of_kind.iter().map(|(name, header)| (name.as_str(), *header)).collect();
        let mut report = check_link_set(&inputs, &options.validator);
        options.select(&mut report);
        let checked = Checked::new(report, &[], &Names::of(None), Comparison::default());
        let found = !checked.counts.is_empty();
        found.then(|| FileReport::new(name.clone(), Outcome::Members(Arc::new(checked))))
    }
}

/// What the inputs of one link have to have in common (rule `mixed-inputs`).
fn kind(header: &HeaderSummary) -> [u8; 6] {
    let (fp, ra) = header.fixed_offsets;
    let endian = u8::from(header.endian == Endian::Big);
    let abi = header.abi.map_or(0, |abi| abi.id());
    let flags = u8::from(header.flags.pcrel());
    [header.version.number(), abi, endian, fp.cast_unsigned(), ra.cast_unsigned(), flags]
}
