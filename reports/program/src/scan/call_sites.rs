//! Examines the call sites of a file.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Code;
use sframe_oracle::compare::{AfterCall, CallSite, SiteSums, call_sites};
use sframe_oracle::rules::WRONG_FRAME_AFTER_CALL;
use sframe_record::{CallSites, SiteCounts};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Finding, Keep};

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
    let code = Code::of(elf, sections, cfi)?;
    let (mut findings, mut count) = (Vec::new(), 0_u64);
    let (sframe, cfi) = call_sites(&code, elf, sections, cfi, |site| {
        let Some(message) = message(site, !sections.is_empty()) else { return };
        if keep.has_room(count) {
            findings.push(Finding {
                rule: WRONG_FRAME_AFTER_CALL,
                section: None,
                offset: None,
                bytes: 0..0,
                field: None,
                function: None,
                row: None,
                code: Some((site.call, site.return_address)),
                message,
            });
        }
        count += 1;
    });
    let sums = CallSites { sframe: counts(&sframe), cfi: counts(&cfi) };
    Some(Examined { sums, findings, count })
}

/// What is wrong after a call, if SFrame gives a wrong frame, or CFI does in a file without SFrame.
fn message(site: &CallSite, has_sections: bool) -> Option<String> {
    let (who, after) = if has_sections { ("SFrame", site.sframe) } else { ("CFI", site.cfi) };
    let whose = match after? {
        AfterCall::OtherRow => "another path of the function",
        AfterCall::OtherFunction => "the next function",
        _ => return None,
    };
    let place = site.return_address;
    Some(format!("at the return address {place:#x} of this call, {who} has the frame of {whose}"))
}

fn counts(sums: &SiteSums) -> Option<SiteCounts> {
    let SiteSums { same, same_elsewhere, other_row, other_function, nothing, unreadable } = *sums;
    let counts =
        SiteCounts { same, same_elsewhere, other_row, other_function, nothing, unreadable };
    (sums.total() > 0).then_some(counts)
}
