//! Twins: one unwind program written both as CFI and as an SFrame section, in one file. The two say
//! the same at every PC; with a seeded [`Fault`] on SFrame's side they differ in exactly that.

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

/// Where the code starts.
const CODE: u64 = 0x1_0000;
/// Where the sections are.
const SFRAME: u64 = 0x100_0000;
const EH_FRAME: u64 = 0x110_0000;

/// A program and its SFrame section.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The CFI, which is right.
    pub program: Program,
    /// The section. Its functions are the program's, in the same order, or fewer.
    pub plan: Plan,
}

/// A range of PCs with a verdict other than that both sides, or neither, say the same.
pub type Told = (u64, u64, Verdict);

/// The SFrame row of a frame: an undefined return address leaves nothing else to say.
fn as_row(frame: Frame) -> Frame {
    if frame.ra == Recovery::Undefined { Frame::OUTERMOST } else { frame }
}

/// Whether the version has a row for a frame.
fn has_row(version: Version, abi: Abi, frame: Frame) -> bool {
    let function = FunctionBuilder::new(0x1000, 16).row(0, as_row(frame));
    SectionBuilder::new(version, abi).function(function).build().is_ok()
}

impl Twin {
    /// The twin that `entropy` stands for, in a version; version 2 for s390x in version 1.
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
        };
        Twin { program, plan }
    }

    /// The range of code, which has all functions of the program.
    #[must_use]
    pub fn code(&self) -> Range<u64> {
        let last = self.program.functions.last();
        CODE..last.map_or(CODE + 16, |last| last.start + u64::from(last.size))
    }

    /// The file; `None` where the section cannot say what the plan asks for.
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

    /// What a comparison has to tell, worked out PC by PC from the plan and the program.
    #[must_use]
    pub fn expected(&self) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
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
                push(&mut told, (at(pair[0]), at(pair[1]), verdict));
            }
        }
        told
    }

    /// How a row stands to what CFI says at the same PC (`cfi-mapping`: the projection that is
    /// compared, and what versions cannot carry).
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

/// Adds a range, unless nothing is to be told of it, or it goes on with the last one.
pub fn push(told: &mut Vec<Told>, (start, end, verdict): Told) {
    if matches!(verdict, Verdict::Equal | Verdict::Neither) || start == end {
        return;
    }
    match told.last_mut() {
        Some((_, last, before)) if *last == start && *before == verdict => *last = end,
        _ => told.push((start, end, verdict)),
    }
}
