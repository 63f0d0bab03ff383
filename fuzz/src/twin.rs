//! Twins: one unwind program, written both as CFI and as an SFrame section in the same file. Both give the same rows at
//! every PC. With a seeded [`Fault`] on SFrame's side, they differ in exactly that fault.

mod faults;

pub use faults::{FAULTS, Fault};

use std::ops::Range;

use sframe_oracle::compare::{Fields, Verdict};
use sframe_validator::unwind::{Frame, Recovery};
use sframe_validator::write::elf::Image;
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

use crate::generate::{FunctionPlan, Plan};
use crate::program::{Program, Scope};

/// The start of the code.
const CODE: u64 = 0x1_0000;
/// The place of the sections.
const SFRAME: u64 = 0x100_0000;
const EH_FRAME: u64 = 0x110_0000;

/// A program and its SFrame section.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The CFI, which is correct.
    pub program: Program,
    /// The section. Its functions are those of the program in the same order, possibly fewer.
    pub plan: Plan,
}

/// A range of PCs on which the sides do not agree, with its verdict: start, end, verdict.
pub type Disagreement = (u64, u64, Verdict);

/// The SFrame row for a frame. With an undefined return address, other rules are lost.
fn as_row(frame: Frame) -> Frame {
    if frame.ra == Recovery::Undefined { Frame::OUTERMOST } else { frame }
}

/// Whether the version has a row for a frame.
fn has_row(version: Version, abi: Abi, frame: Frame) -> bool {
    let function = FunctionBuilder::new(0x1000, 16).row(0, as_row(frame));
    SectionBuilder::new(version, abi).function(function).build().is_ok()
}

impl Twin {
    /// The twin that `entropy` encodes, in a version. For s390x, version 1 is replaced by version 2.
    #[must_use]
    pub fn new(entropy: &[u8], version: Version) -> Twin {
        let of_abi = |abi| match abi {
            Abi::S390x => version.max(Version::V2),
            Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => version,
        };
        let allows = |abi, frame| has_row(of_abi(abi), abi, frame);
        let scope = Scope {
            for_gimli: false,
            in_file: true,
            abi: None,
            ops: Scope::ALL_OPS,
            allows: &allows,
        };
        let program = Program::new(entropy, CODE, &scope);
        let version = of_abi(program.abi);
        let functions = program.functions.iter().map(|function| FunctionPlan {
            start: function.start,
            size: function.size,
            rows: program
                .rows(function)
                .into_iter()
                .map(|(start, frame)| (start, as_row(frame)))
                .collect(),
            repeat: None,
            signal: program.signal && version == Version::V3,
            key_b: program.key_b,
            flexible: false,
            fre_type: None,
        });
        let plan = Plan {
            version,
            abi: program.abi,
            endian: program.abi.endian(),
            address: SFRAME,
            object: false,
            sorted: true,
            pcrel: version > Version::V1,
            claim: false,
            auxiliary: Vec::new(),
            gap_before_functions: Vec::new(),
            gap_before_rows: Vec::new(),
            unused_rows: Vec::new(),
            trailing: Vec::new(),
            functions: functions.collect(),
            odd_frames: false,
        };
        Twin { program, plan }
    }

    /// The range of code, which contains all functions of the program.
    #[must_use]
    pub fn code(&self) -> Range<u64> {
        let last = self.program.functions.last();
        CODE..last.map_or(CODE + 16, |last| last.start + u64::from(last.size))
    }

    /// The file; `None` if the section cannot express the plan.
    #[must_use]
    pub fn file(&self) -> Option<Vec<u8>> {
        let sframe = self.plan.build().ok()?.bytes;
        let eh_frame = self.program.section(EH_FRAME);
        let image = Image {
            abi: self.program.abi,
            code: self.code(),
            sframe: (&sframe, SFRAME),
            typed: self.plan.pcrel,
            eh_frame: Some((&eh_frame, EH_FRAME)),
        };
        image.bytes().ok()
    }

    /// The ranges that a comparison must report, computed PC by PC from the plan and the program.
    #[must_use]
    pub fn expected(&self) -> Vec<Disagreement> {
        let mut found: Vec<Disagreement> = Vec::new();
        for function in &self.program.functions {
            let truth = self.program.rows(function);
            let ours = self.plan.functions.iter().find(|plan| plan.start == function.start);
            let rows = ours.map(|plan| plan.rows.as_slice()).unwrap_or_default();
            let mut edges: Vec<u32> = truth.iter().chain(rows).map(|(start, _)| *start).collect();
            edges.extend([function.size, ours.map_or(0, |plan| plan.size)]);
            edges.sort_unstable();
            edges.dedup();
            for pair in edges.windows(2).filter(|pair| pair[1] <= function.size) {
                let holding = |rows: &[(u32, Frame)]| {
                    rows.iter().rfind(|(start, _)| *start <= pair[0]).map(|(_, frame)| *frame)
                };
                let truth = holding(&truth).expect("CFI has rows from the start on");
                let verdict = match (ours, holding(rows)) {
                    (Some(plan), Some(row)) if pair[0] < plan.size => {
                        self.verdict(plan, row, truth)
                    }
                    _ => Verdict::OnlyCfi,
                };
                let at = |offset: u32| function.start + u64::from(offset);
                push(&mut found, (at(pair[0]), at(pair[1]), verdict));
            }
        }
        found
    }

    /// The verdict on a row and CFI's frame at the same PC (`cfi-mapping`: the projection that is compared, and the
    /// limits of versions).
    fn verdict(&self, function: &FunctionPlan, row: Frame, truth: Frame) -> Verdict {
        let mut different = Vec::new();
        let mut limited = Vec::new();
        let carries_marks = self.plan.version == Version::V3;
        if function.signal != self.program.signal {
            let list = if carries_marks { &mut different } else { &mut limited };
            list.push(Fields::SIGNAL);
        }
        match (row.ra == Recovery::Undefined, truth.ra == Recovery::Undefined) {
            (true, true) => {}
            (false, true) if !carries_marks => {
                limited.push(Fields::UNDEFINED_RA);
                differences(row, Frame { ra: row.ra, ..truth }, &mut different);
                self.signing(function, row, truth, &mut different);
            }
            (false, false) => {
                differences(row, truth, &mut different);
                self.signing(function, row, truth, &mut different);
            }
            _ => different.push(Fields::UNDEFINED_RA),
        }
        let all = |list: &[Fields]| list.iter().fold(Fields::default(), |all, f| all.with(*f));
        match (different.is_empty(), limited.is_empty()) {
            (true, true) => Verdict::Equal,
            (true, false) => Verdict::Limited(all(&limited)),
            (false, _) => Verdict::Different(all(&different)),
        }
    }

    fn signing(&self, function: &FunctionPlan, row: Frame, truth: Frame, found: &mut Vec<Fields>) {
        let key = row.ra_signed && function.key_b != self.program.key_b;
        if self.program.abi.is_aarch64() && (row.ra_signed != truth.ra_signed || key) {
            found.push(Fields::RA_SIGNING);
        }
    }
}

fn differences(row: Frame, truth: Frame, found: &mut Vec<Fields>) {
    let parts = [
        (row.cfa != truth.cfa, Fields::CFA),
        (row.ra != truth.ra, Fields::RA),
        (row.fp != truth.fp, Fields::FP),
    ];
    found.extend(parts.iter().filter(|(differs, _)| *differs).map(|(_, field)| *field));
}

/// Adds a range, unless the sides agree on it. A range that continues the last one is merged with it.
pub fn push(found: &mut Vec<Disagreement>, (start, end, verdict): Disagreement) {
    if matches!(verdict, Verdict::Equal | Verdict::Neither) || start == end {
        return;
    }
    match found.last_mut() {
        Some((_, last, before)) if *last == start && *before == verdict => *last = end,
        _ => found.push((start, end, verdict)),
    }
}
