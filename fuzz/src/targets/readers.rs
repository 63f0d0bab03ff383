//! Compares two readers, the validator and libsframe, on all functions and rows, and on look-ups at the edges of rows
//! and in gaps.
//!
//! libsframe runs in its own process ([`crate::peer`]). If it crashes on a section, that is its own defect, and is only
//! counted. If it answers, the answers must equal the validator's, or be a known difference (`known.rs`).

mod compare;
mod known;
mod own;
mod tally;

use std::cell::RefCell;
use std::path::PathBuf;

use sframe_validator::check::Checker;
use sframe_validator::rules::Severity;
use sframe_validator::section::MAGIC;
use sframe_validator::{Placement, Section};

use crate::generate::{Configuration, Plan};
use crate::peer::{Answer, Failure, Peer, libraries};
use crate::view;
use compare::{Difference, compare};
use tally::Tally;

/// The maximum number of PCs to look up in a section.
const MOST_PCS: usize = 1 << 9;
/// The address of sections that are given as bytes.
const ADDRESS: u64 = 1 << 62;

/// All available copies of libsframe.
struct Readers {
    peers: Vec<Peer>,
    tally: Tally,
}

thread_local! {
    static READERS: RefCell<Readers> = RefCell::new(Readers {
        peers: libraries().into_iter().map(|library| Peer::new(program(), library)).collect(),
        tally: Tally::default(),
    });
}

/// The program that calls libsframe, which is next to this one; tests are one folder below.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a program has a path");
    let folders = own.ancestors().skip(1).take(2);
    let mut programs = folders.map(|folder| folder.join("ask-libsframe"));
    programs.find(|path| path.exists()).expect("`ask-libsframe` is built with this program")
}

/// Reads `data` as a section if it starts like one; otherwise builds the section that it encodes. If the first byte
/// is odd, that section may contain what rules warn about. Without any libsframe, nothing is done.
///
/// # Panics
/// Panics if libsframe gives a result other than the validator's, and the difference is not known.
pub fn run(data: &[u8]) {
    if data.starts_with(&MAGIC.to_le_bytes()) || data.starts_with(&MAGIC.to_be_bytes()) {
        return check(data, Placement::at(ADDRESS));
    }
    let warned = data.first().is_some_and(|byte| byte & 1 != 0);
    let configuration = if warned { Configuration::ALL } else { Configuration::SILENT };
    let configuration = Configuration { objects: false, ..configuration };
    let plan = Plan::new(data.get(1..).unwrap_or_default(), &configuration);
    let built = plan.build().expect("can be written");
    check(&built.bytes, plan.placement(&[]));
}

fn check(data: &[u8], placement: Placement<'_>) {
    let Ok(section) = Section::parse(data, placement) else { return };
    let sound = is_sound(data, placement);
    let pcs = pcs(&section);
    let from_start: Vec<_> =
        pcs.iter().map(|pc| pc.wrapping_sub(placement.address).cast_signed()).collect();
    let looked_up = sound.then_some(&pcs);
    READERS.with_borrow_mut(|Readers { peers, tally }| {
        for peer in peers {
            let library = peer.library().to_owned();
            let mut outcome = differences(peer.ask(data, &from_start), &section, looked_up);
            // Earlier sections may have damaged libsframe's memory. Only results that a fresh process confirms count
            // against either side.
            if outcome.as_ref().map_or(true, |found| found.iter().any(Found::is_news)) {
                outcome = differences(peer.ask_afresh(data, &from_start), &section, looked_up);
            }
            match outcome {
                Err(failure) => {
                    let input = if sound { "sound" } else { "malformed" };
                    tally.failed(&library, failure, input, data);
                }
                Ok(found) => {
                    tally.answered(&library);
                    for Found { difference, reason } in found {
                        let news = || panic!("{}: {difference}", library.display());
                        tally.known(&library, reason.unwrap_or_else(news), data);
                    }
                }
            }
        }
    });
}

/// A difference, and the reason if it is a known one.
struct Found<'a> {
    difference: Difference<'a>,
    reason: Option<&'static str>,
}

impl Found<'_> {
    const fn is_news(&self) -> bool {
        self.reason.is_none()
    }
}

/// The differences in libsframe's answer. There are none for versions that it does not intend to read.
fn differences<'a>(
    answer: Result<Answer, Failure>,
    section: &'a Section<'a>,
    looked_up: Option<&Vec<u64>>,
) -> Result<Vec<Found<'a>>, Failure> {
    let answer = answer?;
    if !known::reads(answer.api, section.header().version) {
        return Ok(Vec::new());
    }
    let found = compare(section, &answer, looked_up).into_iter();
    let with_reason = |difference| Found { reason: known::reason(&difference), difference };
    Ok(found.map(with_reason).collect())
}

/// Whether there are no error-level findings, and nothing is undecided.
fn is_sound(data: &[u8], placement: Placement<'_>) -> bool {
    let report = Checker::default().section(data, placement);
    report.undecided.is_empty()
        && report.counts.iter().all(|(rule, _)| rule.severity != Severity::Error)
}

/// The edges of functions and rows, and the PCs next to them.
fn pcs(section: &Section<'_>) -> Vec<u64> {
    let edges = view::edges(section).into_iter();
    edges.flat_map(|pc| [pc.wrapping_sub(1), pc, pc.wrapping_add(2)]).take(MOST_PCS).collect()
}

/// Whether there is any libsframe to compare with.
#[must_use]
pub fn has_peers() -> bool {
    READERS.with_borrow(|readers| !readers.peers.is_empty())
}
