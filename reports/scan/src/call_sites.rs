//! Examines the call sites of a file.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_oracle::compare::{AfterCall, CallSite, Range, SiteSums, call_sites, look_up};
use sframe_oracle::rules::WRONG_FRAME_AFTER_CALL;
use sframe_record::{CallSites, SiteCounts};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{CodeSpan, Finding, Keep};
use sframe_validator::unwind::{CodeAddress, Frame, Named};
use sframe_validator::{Abi, Section};

use crate::describe::rows::RowReader;

/// The call sites of a file: the sums, and the findings about those with a wrong frame, of which `keep` are kept.
pub(super) struct Examined {
    pub(super) sums: CallSites,
    pub(super) findings: Vec<Finding>,
    pub(super) count: u64,
}

/// Examines the calls in the code of a file. `None` if code of its machine is not examined.
pub(super) fn examine(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &[Cfi<'_>],
    keep: Keep,
) -> Option<Examined> {
    let code = Program::of(elf, sections, cfi)?;
    let who = if sections.is_empty() { Who::Cfi } else { Who::Sframe };
    let (mut kept, mut count) = (Vec::new(), 0_u64);
    let (in_sframe, in_cfi) = call_sites(&code, elf, sections, cfi, |site| {
        if whose(site, who).is_some() {
            if keep.has_room(count) {
                kept.push(*site);
            }
            count += 1;
        }
    });
    let sums = CallSites { sframe: counts(&in_sframe), cfi: counts(&in_cfi) };
    let frames = frames(&kept, who, elf, sections, cfi);
    let findings = kept.iter().zip(frames).filter_map(|(site, frames)| {
        let frames = elf.abi().zip(frames).map(|(abi, (at, after))| instead(abi, &at, &after));
        let (name, whose, place) = (who.name(), whose(site, who)?, site.return_address);
        let frames = frames.unwrap_or_default();
        Some(Finding {
            rule: WRONG_FRAME_AFTER_CALL,
            section: None,
            offset: None,
            bytes: 0..0,
            field: None,
            function: None,
            row: None,
            code: Some(CodeSpan { start: site.call, end: site.return_address }),
            message: format!(
                "at the return address {place:#x} of this call, {name} has the frame of {whose}{frames}"
            ),
        })
    });
    let findings = findings.collect();
    Some(Examined { sums, findings, count })
}

/// Whose wrong frames are findings: those of SFrame or, in a file without SFrame, of CFI.
#[derive(Clone, Copy, Debug)]
enum Who {
    Sframe,
    Cfi,
}

impl Who {
    const fn name(self) -> &'static str {
        match self {
            Who::Sframe => "SFrame",
            Who::Cfi => "CFI",
        }
    }
}

/// Whose frame a walker finds after a call, if it is a wrong one.
const fn whose(site: &CallSite, who: Who) -> Option<&'static str> {
    let after = match who {
        Who::Sframe => site.sframe,
        Who::Cfi => site.cfi,
    };
    match after {
        Some(AfterCall::OtherRow) => Some("another path of the function"),
        Some(AfterCall::OtherFunction) => Some("the next function"),
        _ => None,
    }
}

/// The frame at each call, and the one at its return address.
fn frames<'c>(
    sites: &[CallSite],
    who: Who,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
) -> Vec<Option<(Frame, Frame)>> {
    let places: Vec<CodeAddress> = sites
        .iter()
        .flat_map(|site| [site.return_address.saturating_sub(1), site.return_address])
        .zip(sites.iter().flat_map(|site| [site.call; 2]))
        .map(|(address, call)| CodeAddress { address, ..call })
        .collect();
    let mut rows = RowReader::default();
    let mut frame = |place: &CodeAddress, range: Option<Range<'_>>| {
        let range = range?;
        match who {
            Who::Sframe => range.sframe?.frame,
            // A comparison reads CFI only where SFrame describes the code.
            Who::Cfi => {
                let rows = rows.of_cfi(&range.cfi?.function)?;
                rows.iter().find(|row| row.contains(place.address)).map(|row| row.frame)
            }
        }
    };
    let ranges = look_up(elf, sections, cfi, &places);
    let found = places.iter().zip(ranges).map(|(place, range)| frame(place, range));
    let found: Vec<Option<Frame>> = found.collect();
    found.chunks(2).map(|pair| pair.first().copied()?.zip(pair.last().copied()?)).collect()
}

/// `: CFA rsp+8 instead of rsp+16`: where the frame `after` a call is not the one `at` the call.
fn instead(abi: Abi, at: &Frame, after: &Frame) -> String {
    let signed = |frame: &Frame| if frame.ra_signed { "signed" } else { "not signed" };
    let parts = [
        ("CFA", Named(abi, after.cfa).to_string(), Named(abi, at.cfa).to_string()),
        ("RA", Named(abi, after.ra).to_string(), Named(abi, at.ra).to_string()),
        ("FP", Named(abi, after.fp).to_string(), Named(abi, at.fp).to_string()),
        ("RA", signed(after).to_owned(), signed(at).to_owned()),
    ];
    let apart = parts.into_iter().filter(|(_, after, at)| after != at);
    let apart = apart.map(|(name, after, at)| format!("{name} {after} instead of {at}"));
    let apart: Vec<String> = apart.collect();
    if apart.is_empty() { String::new() } else { format!(": {}", apart.join(", ")) }
}

fn counts(sums: &SiteSums) -> Option<SiteCounts> {
    let SiteSums { same, same_elsewhere, other_row, other_function, nothing, unreadable } = *sums;
    let counts =
        SiteCounts { same, same_elsewhere, other_row, other_function, nothing, unreadable };
    (sums.total() > 0).then_some(counts)
}
