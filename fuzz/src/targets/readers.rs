//! Two readers, ours and libsframe: on every function and row, and on look-ups at the edges of rows and in gaps.
//!
//! libsframe runs in a process of its own ([`crate::peer`]). Where it does not survive a section that is its
//! own defect, and counted; where it answers, the answers have to be ours, or be known (`known.rs`) to be wrong.

mod compare;
mod known;
mod own;
mod tally;

use std::cell::RefCell;
use std::path::PathBuf;

use sframe_validator::check::{Options, check_section};
use sframe_validator::rules::Severity;
use sframe_validator::section::MAGIC;
use sframe_validator::{Placement, Section};

use crate::generate::{Configuration, Plan};
use crate::peer::{Answer, Failure, Peer, libraries};
use crate::view;
use compare::{Difference, compare};
use tally::Tally;

/// The most PCs that are looked up in a section.
const MOST_PCS: usize = 1 << 9;
/// Where sections that come as bytes stand.
const ADDRESS: u64 = 1 << 62;

/// Every libsframe that is at hand.
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

/// The program that asks, beside this one; tests are a folder below.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a program has a path");
    let folders = own.ancestors().skip(1).take(2);
    let mut programs = folders.map(|folder| folder.join("ask-libsframe"));
    programs.find(|path| path.exists()).expect("`ask-libsframe` is built with this program")
}

/// Reads `data` as a section where it starts as one, else the section that it stands for, with what
/// is warned of where the first byte is odd. Without any libsframe there is nothing to do.
///
/// # Panics
/// Where libsframe says something else than our reader, and it is not known to be wrong there.
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
            // What came before may have damaged libsframe's memory: nothing counts against it, or
            // against us, that a process of this section's own does not show as well.
            if outcome.as_ref().map_or(true, |found| found.iter().any(Found::is_news)) {
                outcome = differences(peer.ask_afresh(data, &from_start), &section, looked_up);
            }
            match outcome {
                Err(failure) => tally.failed(&library, failure, sound, data),
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

/// A difference, and the reason why it is no news.
struct Found<'a> {
    difference: Difference<'a>,
    reason: Option<&'static str>,
}

impl Found<'_> {
    const fn is_news(&self) -> bool {
        self.reason.is_none()
    }
}

/// What libsframe says otherwise; nothing of versions that it does not mean to read.
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

/// Whether no rule speaks up at error level, and nothing is undecided.
fn is_sound(data: &[u8], placement: Placement<'_>) -> bool {
    let report = check_section(data, placement, &Options::default());
    report.undecided.is_empty()
        && report.counts.iter().all(|(rule, _)| rule.severity != Severity::Error)
}

/// The edges of functions and rows, and what is beside them.
fn pcs(section: &Section<'_>) -> Vec<u64> {
    let edges = view::edges(section).into_iter();
    edges.flat_map(|pc| [pc.wrapping_sub(1), pc, pc.wrapping_add(2)]).take(MOST_PCS).collect()
}

/// Whether there is any libsframe to compare with.
#[must_use]
pub fn has_peers() -> bool {
    READERS.with_borrow(|readers| !readers.peers.is_empty())
}
