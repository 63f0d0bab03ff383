//! Compares the CFI of files with their machine code, and prints what the code proves, as a table.
//!
//! ```sh
//! cargo run --release -p sframe-oracle --example code_witness -- /usr/lib/x86_64-linux-gnu/*.so
//! ```
//!
//! `recall` is the share of the code without padding that is proven right or wrong. With `--unreached` as the first argument, each range is listed
//! that no known path reaches.

use std::ops::Range;
use std::time::Instant;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::code::{Program, Workspace};
use sframe_oracle::compare::{ProofSums, Refutation, prove};
use sframe_oracle::witness::CodeRange;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

fn main() {
    let mut all = Judged::default();
    println!(
        "{:>10} {:>7} {:>7} {:>7} {:>9} {:>7} {:>8} {:>7} {:>7} {:>5}",
        "bytes",
        "proven",
        "wrong",
        "unknown",
        "unreached",
        "padding",
        "no entry",
        "inside",
        "recall",
        "MB/s"
    );
    let mut paths = std::env::args().skip(1).peekable();
    let lists_unreached = paths.next_if_eq("--unreached").is_some();
    for path in paths {
        let start = Instant::now();
        let Some(judged) = std::fs::read(&path).ok().and_then(|data| of(&data)) else {
            continue;
        };
        print(&judged, start, &path);
        for range in &judged.wrong {
            println!("    {range}");
        }
        for range in judged.unreached.ranges.iter().filter(|_| lists_unreached) {
            println!("    {range}");
        }
        all.sums += judged.sums;
        all.unreached.padding += judged.unreached.padding;
        all.unreached.whole += judged.unreached.whole;
    }
    print(&all, Instant::now(), "all");
}

/// What the code of a file proves.
#[derive(Default)]
struct Judged {
    sums: ProofSums,
    /// The ranges where the CFI is wrong.
    wrong: Vec<String>,
    unreached: Unreached,
}

/// Code that no known path reaches.
#[derive(Default)]
struct Unreached {
    /// Bytes of padding.
    padding: u64,
    /// Bytes of functions whose entry is not reached, apart from padding.
    whole: u64,
    ranges: Vec<String>,
}

fn of(data: &[u8]) -> Option<Judged> {
    let elf = Elf::parse(data).ok()?;
    // Go compresses its CFI.
    let source = CfiSource::of(&elf);
    let cfi = source.load_all().ok()?;
    let code = Program::of(&elf, &[], &cfi)?;
    let mut wrong = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |found| {
        let Refutation::Rows(range) = found else { return };
        let (start, end, truth) = (range.start.address, range.end, range.truth);
        if let Some(cfi) = range.cfi {
            wrong.push(format!("{start:#x}..{end:#x}: CFI has {}, the code {truth:?}", cfi.frame));
        }
    });
    let unreached = unreached(&elf, &cfi, &code);
    Some(Judged { sums: proofs.cfi, wrong, unreached })
}

/// Classifies the code with CFI that no known path reaches.
fn unreached(elf: &Elf<'_>, cfi: &[Cfi<'_>], code: &Program<'_>) -> Unreached {
    let mut unreached = Unreached::default();
    let described = described(cfi);
    let mut workspace = Workspace::default();
    for function in code.functions() {
        for gap in gaps(code, *function, &mut workspace) {
            let after = described.partition_point(|range| range.end_place() <= gap.start);
            for range in described.get(after..).unwrap_or_default() {
                if range.start >= gap.end_place() {
                    break;
                }
                let start = gap.start.max(range.start);
                let gap = CodeRange { start, end: gap.end.min(range.end) };
                unreached.add(elf, gap, start == function.start);
            }
        }
    }
    unreached
}

impl Unreached {
    /// Adds a range, which starts with an instruction: the function's first, or one after an instruction that is reached.
    fn add(&mut self, elf: &Elf<'_>, gap: CodeRange, is_entry: bool) {
        let Some(bytes) = elf.code_bytes(gap.start, gap.bytes()) else { return };
        let paddings = match elf.abi() {
            Some(Abi::Amd64) => paddings(bytes, is_entry, amd64),
            _ => paddings(bytes, is_entry, aarch64),
        };
        let mut done = 0;
        let mut list = |range: Range<usize>, kind: &str| {
            let place = |offset| gap.start.address + offset as u64;
            if !range.is_empty() {
                let (start, end) = (place(range.start), place(range.end));
                self.ranges.push(format!("{start:#x}..{end:#x}: {kind}"));
            }
            range.len() as u64
        };
        let kind = if is_entry { "no entry" } else { "inside" };
        let end = std::iter::once(bytes.len()..bytes.len());
        for padding in paddings.into_iter().chain(end) {
            let rest = list(done..padding.start, kind);
            self.whole += if is_entry { rest } else { 0 };
            done = padding.end;
            self.padding += list(padding, "padding");
        }
    }
}

/// The end of a range as a place.
trait End {
    fn end_place(&self) -> CodeAddress;
}

impl End for CodeRange {
    fn end_place(&self) -> CodeAddress {
        CodeAddress { address: self.end, ..self.start }
    }
}

/// The code that CFI describes, ordered and without overlaps.
fn described(cfi: &[Cfi<'_>]) -> Vec<CodeRange> {
    let functions = cfi.iter().flat_map(Cfi::functions);
    let mut ranges: Vec<CodeRange> = functions
        .map(|f| CodeRange { start: f.start(), end: f.start().address.saturating_add(f.size()) })
        .collect();
    ranges.sort_unstable();
    let mut done = CodeAddress::absolute(0);
    for range in &mut ranges {
        range.start = range.start.max(done);
        done = done.max(range.end_place());
    }
    ranges.retain(|range| range.start < range.end_place());
    ranges
}

/// The ranges between the instructions of a function that are reached.
fn gaps<'e>(code: &Program<'e>, range: CodeRange, workspace: &mut Workspace<'e>) -> Vec<CodeRange> {
    let mut gaps = Vec::new();
    let mut add = |from: u64, to: u64| {
        if from < to {
            gaps.push(CodeRange { start: CodeAddress { address: from, ..range.start }, end: to });
        }
    };
    let mut done = range.start.address;
    if let Some(mut function) = code.function_in(range.start, workspace) {
        function.visit(range.start.address..range.end, |from, to, _| {
            add(done, from);
            done = done.max(to);
        });
        workspace.recycle(function);
    }
    add(done, range.end);
    gaps
}

/// What an instruction is for an execution that never comes to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It does nothing or traps: assemblers and compilers fill gaps with it.
    Filler,
    /// Execution does not continue after it.
    End,
    Other,
}

/// The padding in code that is not reached: each run of filler after an instruction that does not continue. `is_entry` says
/// that no such instruction is before the code.
fn paddings(
    bytes: &[u8],
    is_entry: bool,
    decode: impl Fn(&[u8]) -> (Kind, usize),
) -> Vec<Range<usize>> {
    let mut paddings: Vec<Range<usize>> = Vec::new();
    let (mut offset, mut is_after_end) = (0, !is_entry);
    while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = decode(rest);
        let end = offset + length.min(rest.len());
        if is_after_end && kind == Kind::Filler {
            match paddings.last_mut().filter(|last| last.end == offset) {
                Some(last) => last.end = end,
                None => paddings.push(offset..end),
            }
        } else {
            is_after_end = kind == Kind::End;
        }
        offset = end;
    }
    paddings
}

/// The kind and the length of the first instruction of AMD64 code.
fn amd64(code: &[u8]) -> (Kind, usize) {
    if code.starts_with(&[0, 0]) {
        return (Kind::Filler, 2);
    }
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let kind = match (instruction.mnemonic(), instruction.flow_control()) {
        (Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2, _) => Kind::Filler,
        (Mnemonic::Lea, _) if is_unchanged(&instruction) => Kind::Filler,
        (
            _,
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch,
        ) => Kind::End,
        _ => Kind::Other,
    };
    (kind, instruction.len().max(1))
}

/// Whether `lea` computes the value that its register has: `lea 0(%rsi),%rsi`.
fn is_unchanged(lea: &Instruction) -> bool {
    lea.op0_register() == lea.memory_base()
        && lea.op0_register().is_gpr64()
        && lea.memory_index() == Register::None
        && lea.memory_displacement64() == 0
}

/// The kind and the length of the first instruction of AArch64 code.
fn aarch64(code: &[u8]) -> (Kind, usize) {
    const NOP: u32 = 0xd503_201f;
    let Some(bytes) = code.first_chunk() else { return (Kind::Other, code.len()) };
    let word = u32::from_le_bytes(*bytes);
    let is_trap = word >> 16 == 0 || word & 0xffe0_001f == 0xd420_0000;
    // Bits 21 and 24 of a jump by register: whether it is a call, and whether the target is authenticated.
    let is_jump_by_register = word >> 25 == 0b110_1011 && word >> 21 & 0b111 != 1;
    let kind = match word {
        NOP => Kind::Filler,
        _ if is_trap => Kind::Filler,
        _ if word >> 26 == 0b00_0101 || is_jump_by_register => Kind::End,
        _ => Kind::Other,
    };
    (kind, 4)
}

fn print(judged: &Judged, start: Instant, name: &str) {
    let Judged { sums, unreached, .. } = judged;
    let total = sums.total();
    let percent = |bytes: u64| bytes as f64 * 100.0 / total.max(1) as f64;
    let rate = total as f64 / 1e6 / start.elapsed().as_secs_f64();
    let inside = sums.unreached.saturating_sub(unreached.padding + unreached.whole);
    let code = total.saturating_sub(unreached.padding).max(1);
    println!(
        "{total:>10} {:>7.2} {:>7.3} {:>7.2} {:>9.2} {:>7.2} {:>8.2} {:>7.2} {:>7.2} {rate:>5.1} {name}",
        percent(sums.proven),
        percent(sums.refuted),
        percent(sums.unknown),
        percent(sums.unreached),
        percent(unreached.padding),
        percent(unreached.whole),
        percent(inside),
        sums.proven.saturating_add(sums.refuted) as f64 * 100.0 / code as f64,
    );
}
