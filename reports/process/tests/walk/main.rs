//! The walker, on stacks and rows made by hand: every step is computed from the row's formula.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod together;

use std::collections::BTreeMap;

use sframe_process::walk::{
    Cursor, End, Gaps, LastFrame, Lookup, Memory, Registers, Rules, Together, Unwinder,
};
use sframe_process::{FurtherRules, Silence, Statement};
use sframe_validator::Abi;
use sframe_validator::unwind::{ApplyError, Cfa, Expression, Frame, Recovery, Register, Row};

const ABI: Abi = Abi::Amd64;

/// Words at addresses.
#[derive(Default)]
struct Words(BTreeMap<u64, u64>);

impl Memory for Words {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let found = self.0.get(&address).filter(|_| bytes.len() == 8);
        found.map(|word| bytes.copy_from_slice(&word.to_le_bytes())).is_some()
    }
}

fn words(all: &[(u64, u64)]) -> Words {
    Words(all.iter().copied().collect())
}

fn innermost(pc: u64, sp: u64, fp: u64) -> Cursor {
    let mut registers = Registers::default();
    registers.set(ABI.sp(), Some(sp));
    registers.set(ABI.fp(), Some(fp));
    Cursor::innermost(pc, registers)
}

/// A row for all of the code, with CFA = SP + `offset`, RA at CFA - 8, and FP unchanged.
fn sp_plus(offset: i64) -> Statement {
    frame(Cfa::RegisterOffset { register: ABI.sp(), offset })
}

fn frame(cfa: Cfa) -> Statement {
    let frame = Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false };
    row(frame)
}

fn row(frame: Frame) -> Statement {
    let row = Row { start: 0, end: u64::MAX, frame };
    Statement {
        function: Some((0, u64::MAX)),
        row: Ok(row),
        signal: false,
        further: FurtherRules::NONE,
    }
}

/// The walk of one witness; the PCs and the reason why it ends.
fn alone(
    rules: &Rules,
    start: &Cursor,
    memory: &impl Memory,
    mut rows: impl FnMut(u64) -> Statement,
) -> (Vec<u64>, End) {
    let walk =
        Unwinder { abi: ABI, rules, memory }.walk_together(start, 1, |_, address| rows(address));
    let cells: Vec<_> = walk.levels.iter().filter_map(|level| level.cells[0].as_ref()).collect();
    let end = cells.last().and_then(|cell| cell.step.end.clone()).expect("an end");
    (cells.iter().map(|cell| cell.frame.pc).collect(), end)
}

/// Frames of 16 bytes at 0x1000, which return to 0x100, 0x200 and 0x300.
fn three() -> (Cursor, Words) {
    (innermost(0x50, 0x1000, 7), words(&[(0x1008, 0x100), (0x1018, 0x200), (0x1028, 0x300)]))
}

#[test]
fn a_walk_ends_where_memory_ends() {
    let (start, memory) = three();
    let mut looked_up = Vec::new();
    let (pcs, end) = alone(&Rules::default(), &start, &memory, |address| {
        looked_up.push(address);
        sp_plus(16)
    });
    assert_eq!(pcs, [0x50, 0x100, 0x200, 0x300]);
    assert_eq!(end, End::CannotApply(ApplyError::Memory(0x1038)));
    assert!(end.is_gap() && end.is_undecided() && !end.is_complete());
    assert_eq!(looked_up, [0x50, 0xff, 0x1ff, 0x2ff]);
}

#[test]
fn a_return_address_can_be_looked_up_itself() {
    let (start, memory) = three();
    let rules = Rules { lookup: Lookup::ReturnAddress, ..Rules::default() };
    let mut looked_up = Vec::new();
    alone(&rules, &start, &memory, |address| {
        looked_up.push(address);
        sp_plus(16)
    });
    // The byte before each one shows whether the return address leads astray.
    assert_eq!(looked_up, [0x50, 0x100, 0xff, 0x200, 0x1ff, 0x300, 0x2ff]);
}

#[test]
fn walks_end_at_the_outermost_frame() {
    let (start, memory) = three();
    let outermost = |address| if address == 0x1ff { row(Frame::OUTERMOST) } else { sp_plus(16) };
    let (pcs, end) = alone(&Rules::default(), &start, &memory, outermost);
    assert_eq!((pcs, &end), (vec![0x50, 0x100, 0x200], &End::Outermost));
    assert!(end.is_complete() && !end.is_undecided());
    let zero = words(&[(0x1008, 0x100), (0x1018, 0)]);
    let (pcs, end) = alone(&Rules::default(), &start, &zero, |_| sp_plus(16));
    assert_eq!((pcs, end), (vec![0x50, 0x100], End::ReturnsToZero));
}

/// FP is saved at CFA - 16: 0x1000 has the FP of the first caller, 0x1010 that of the second.
#[test]
fn walks_can_end_where_fp_is_zero() {
    let memory = words(&[
        (0x1000, 9),
        (0x1008, 0x100),
        (0x1010, 0),
        (0x1018, 0x200),
        (0x1020, 0),
        (0x1028, 0),
    ]);
    let saved = Frame {
        cfa: Cfa::RegisterOffset { register: ABI.sp(), offset: 16 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::AtCfa(-16),
        ra_signed: false,
    };
    let start = innermost(0x50, 0x1000, 7);
    let rules = Rules { last_frame: LastFrame::FpZero, ..Rules::default() };
    let (pcs, end) = alone(&rules, &start, &memory, |_| row(saved));
    assert_eq!((pcs, end), (vec![0x50, 0x100], End::FpZero));
    let (pcs, end) = alone(&Rules::default(), &start, &memory, |_| row(saved));
    assert_eq!((pcs, end), (vec![0x50, 0x100, 0x200], End::ReturnsToZero));
}

/// A stack that leads to itself, and one that leads down.
#[test]
fn a_stack_that_does_not_grow_ends_the_walk() {
    let fp_plus = || frame(Cfa::RegisterOffset { register: ABI.fp(), offset: 16 });
    let memory = words(&[(0x1008, 0x100)]);
    let start = innermost(0x50, 0x800, 0x1000);
    let (pcs, end) = alone(&Rules::default(), &start, &memory, |_| fp_plus());
    let sp = 0x1010;
    assert_eq!((pcs, end), (vec![0x50, 0x100], End::StackDoesNotGrow { sp, caller: sp }));
    let start = innermost(0x50, 0x2000, 0x1000);
    let (pcs, end) = alone(&Rules::default(), &start, &memory, |_| fp_plus());
    assert_eq!((pcs, end), (vec![0x50], End::StackDoesNotGrow { sp: 0x2000, caller: sp }));
    // At the end of the address space, addresses wrap.
    let start = innermost(0x50, u64::MAX - 7, 0);
    let (_, end) = alone(&Rules::default(), &start, &words(&[(0, 1)]), |_| sp_plus(16));
    assert_eq!(end, End::StackDoesNotGrow { sp: u64::MAX - 7, caller: 8 });
}

#[test]
fn misaligned_stacks_and_long_ones_end_the_walk() {
    let memory = words(&[(0x1004, 0x100), (0x1010, 0x200)]);
    let start = innermost(0x50, 0x1000, 7);
    let rules = Rules { sp_alignment: 8, ..Rules::default() };
    let (pcs, end) = alone(&rules, &start, &memory, |_| sp_plus(12));
    let expected = End::Misaligned { caller: 0x100c, alignment: 8 };
    assert_eq!((pcs, end), (vec![0x50], expected));
    let (pcs, _) = alone(&Rules::default(), &start, &memory, |_| sp_plus(12));
    assert_eq!(pcs, [0x50, 0x100, 0x200]);
    let (start, memory) = three();
    let rules = Rules { max_frames: 2, ..Rules::default() };
    let (pcs, end) = alone(&rules, &start, &memory, |_| sp_plus(16));
    assert_eq!((pcs, end), (vec![0x50, 0x100], End::TooManyFrames(2)));
}

/// SFrame has no rules for registers other than SP and FP: only the innermost frame knows them.
#[test]
fn other_registers_are_unknown_without_rules() {
    let rbx = Register(3);
    let (mut start, memory) = three();
    start.registers.set(rbx, Some(0x1000));
    let by_rbx = |_| frame(Cfa::RegisterOffset { register: rbx, offset: 16 });
    let (pcs, end) = alone(&Rules::default(), &start, &memory, by_rbx);
    assert_eq!((pcs, &end), (vec![0x50, 0x100], &End::CannotApply(ApplyError::Register(rbx))));
    assert_eq!(end.reason(ABI), "the value of rbx is unknown in this frame");
}

/// The second frame has its CFA in rbx: 0x1008 + 16. The first one recovers rbx according to `rule`, and has the CFA 0x1010.
fn by_rule(rule: Recovery, operations: &[u8]) -> (Vec<u64>, Registers) {
    let (rbx, r12) = (Register(3), Register(12));
    let mut start = innermost(0x50, 0x1000, 7);
    start.registers.set(rbx, Some(0x1008));
    start.registers.set(r12, Some(0x1008));
    let place = Expression { offset: 64, length: 1 };
    let further = FurtherRules {
        registers: vec![(rbx, rule)],
        expressions: vec![(place, operations.to_vec())],
    };
    let rows = |address| match address {
        0x50 => Statement { further: further.clone(), ..sp_plus(16) },
        _ => frame(Cfa::RegisterOffset { register: rbx, offset: 16 }),
    };
    let memory = words(&[(0x1000, 0x1008), (0x1008, 0x100), (0x1010, 0x200)]);
    let walk = Unwinder { abi: ABI, rules: &Rules::default(), memory: &memory }.walk_together(
        &start,
        1,
        |_, at| rows(at),
    );
    let second = walk.levels[1].cells[0].as_ref().expect("a cell").frame.registers;
    (pcs(&walk, 0), second)
}

/// The rules of DWARF 5, 6.4.1.
#[test]
fn registers_are_recovered_by_their_rules() {
    let (rbx, r12) = (Register(3), Register(12));
    let place = Expression { offset: 64, length: 1 };
    for (rule, operations) in [
        (Recovery::Unchanged, &[][..]),
        (Recovery::AtCfa(-16), &[]),
        (Recovery::CfaOffset(-8), &[]),
        (Recovery::RegisterOffset { register: r12, offset: 0 }, &[]),
        (Recovery::AtRegister { register: r12, offset: -8 }, &[]),
        // The CFA is on the stack at first. DW_OP_lit8, DW_OP_minus.
        (Recovery::Expression(place), &[0x38, 0x1c]),
        // DW_OP_lit16, DW_OP_minus.
        (Recovery::AtExpression(place), &[0x40, 0x1c]),
    ] {
        let (pcs, second) = by_rule(rule, operations);
        assert_eq!(second.get(rbx), Some(0x1008), "{rule:?}");
        assert_eq!(second.get(r12), None);
        assert_eq!(pcs, [0x50, 0x100, 0x200], "{rule:?}");
    }
    for (rule, operations) in [
        (Recovery::Undefined, &[][..]),
        (Recovery::AtCfa(0x5000), &[]),
        // An unknown operation, an endless loop (DW_OP_skip), and a value that is missing.
        (Recovery::Expression(place), &[0xff]),
        (Recovery::Expression(place), &[0x2f, 0xfd, 0xff]),
        (Recovery::AtExpression(place), &[0x1c]),
        (Recovery::Expression(Expression { offset: 65, length: 1 }), &[]),
    ] {
        let (pcs, second) = by_rule(rule, operations);
        assert_eq!((second.get(rbx), pcs), (None, vec![0x50, 0x100]), "{rule:?}");
    }
}

/// The first of two witnesses recovers rbx, which both need for the second frame.
#[test]
fn registers_of_one_witness_help_the_other_unless_gaps_stop_it() {
    let rbx = Register(3);
    let (mut start, memory) = three();
    start.registers.set(rbx, Some(0x1010));
    let kept =
        FurtherRules { registers: vec![(rbx, Recovery::Unchanged)], expressions: Vec::new() };
    let rows = |number, address| match address {
        0x50 if number == 0 => Statement { further: kept.clone(), ..sp_plus(16) },
        0xff => frame(Cfa::RegisterOffset { register: rbx, offset: 16 }),
        _ => sp_plus(16),
    };
    for (gaps, frames) in [(Gaps::Follow, 4), (Gaps::Stop, 2)] {
        let rules = Rules { gaps, ..Rules::default() };
        let walk =
            Unwinder { abi: ABI, rules: &rules, memory: &memory }.walk_together(&start, 2, rows);
        assert_eq!((pcs(&walk, 0).len(), pcs(&walk, 1).len()), (4, frames), "{gaps:?}");
    }
}

/// The caller of a signal frame was interrupted at its PC: the byte before it may belong to another row.
#[test]
fn an_interrupted_frame_is_looked_up_at_its_pc() {
    let memory = words(&[(0x1008, 0x100), (0x1018, 0x200), (0x1028, 0x300)]);
    let mut looked_up = Vec::new();
    let (_, _) = alone(&Rules::default(), &innermost(0x50, 0x1000, 7), &memory, |address| {
        looked_up.push(address);
        Statement { signal: address == 0xff, ..sp_plus(16) }
    });
    assert_eq!(looked_up, [0x50, 0xff, 0x200, 0x2ff]);
    // A handler may run on a stack above the interrupted one.
    let down = |address| Statement {
        signal: address == 0x50,
        ..frame(Cfa::Dereference { register: ABI.sp(), offset: 0 })
    };
    let memory = words(&[(0x1000, 0x800), (0x7f8, 0x100)]);
    let caller = Unwinder { abi: ABI, rules: &Rules::default(), memory: &memory }
        .step(&innermost(0x50, 0x1000, 7), &mut { down });
    let next = caller.next().expect("a caller");
    assert_eq!((next.pc, next.sp(ABI), next.exact), (0x100, Some(0x800), true));
}

/// A null pointer was called: the return address is on the stack (AMD64) or in LR (AArch64).
#[test]
fn calls_of_addresses_without_code_return() {
    let nothing = |address| match address {
        0 => Statement::nothing(Silence::Unmapped),
        0x7000.. => Statement::nothing(Silence::NotExecutable),
        _ => row(Frame::OUTERMOST),
    };
    let start = |abi: Abi, pc| {
        let mut frame = Cursor::innermost(pc, Registers::default());
        frame.registers.set(abi.sp(), Some(0x1000));
        frame.registers.set(Register(30), Some(0x200));
        frame
    };
    let memory = words(&[(0x1000, 0x100), (0x1008, 0x7100)]);
    let walk = |abi, start: &Cursor, rules: &Rules| {
        let walk =
            Unwinder { abi, rules, memory: &memory }
                .walk_together(start, 2, |_, address| nothing(address));
        let frames = walk.levels.iter().filter_map(|level| level.cells[1].as_ref());
        let frames = frames.map(|cell| (cell.frame.pc, cell.frame.sp(abi), cell.follows));
        (frames.collect::<Vec<_>>(), walk.compared)
    };
    let rules = Rules::default();
    for pc in [0, 0x8000] {
        let (found, compared) = walk(Abi::Amd64, &start(Abi::Amd64, pc), &rules);
        assert_eq!(found, [(pc, Some(0x1000), true), (0x100, Some(0x1008), false)]);
        // They agree about the outermost frame only.
        assert_eq!(compared, 1);
        let abi = Abi::Aarch64Little;
        let (found, _) = walk(abi, &start(abi, pc), &rules);
        assert_eq!(found, [(pc, Some(0x1000), true), (0x200, Some(0x1000), false)]);
    }
    let only = |pc, follows| vec![(pc, Some(0x1000), follows)];
    let stop = Rules { gaps: Gaps::Stop, ..rules };
    assert_eq!(walk(Abi::Amd64, &start(Abi::Amd64, 0), &stop).0, only(0, false));
    // A frame that was left by a call is not one, and the return address must be in code.
    let left = Cursor { exact: false, ..start(Abi::Amd64, 1) };
    assert_eq!(walk(Abi::Amd64, &left, &rules).0, only(1, false));
    let mut wild = start(Abi::Amd64, 0);
    wild.registers.set(ABI.sp(), Some(0x1008));
    assert_eq!(walk(Abi::Amd64, &wild, &rules).0.len(), 1);
}

/// The PCs of a witness.
fn pcs(walk: &Together, number: usize) -> Vec<u64> {
    let cells = walk.levels.iter().filter_map(|level| level.cells[number].as_ref());
    cells.map(|cell| cell.frame.pc).collect()
}

/// AArch64: the kernel's CFI would lead to 0x777, the interrupted LR, with SP 0x2000. Its frame has PC 0x200 and SP 0x3000:
/// 128 bytes of `siginfo`, 176 of `ucontext` and 8 precede the registers.
#[test]
fn aarch64_signal_frames_are_read_from_the_kernels_frame() {
    let abi = Abi::Aarch64Little;
    let mut registers = Registers::default();
    registers.set(abi.sp(), Some(0x1000));
    registers.set(abi.fp(), Some(0x2000));
    let handler = Cursor { pc: 0x100, exact: false, registers };
    let values = (0..31).map(|number| (0x1000 + 312 + 8 * number, 500 + number));
    let code = [(0x100, 0xd400_0001_d280_1168), (0x1000 + 560, 0x3000), (0x1000 + 568, 0x200)];
    let record = [(0x2000, 0x9999), (0x2008, 0x777)];
    let memory = Words(values.chain(code).chain(record).collect());
    let frame = Frame {
        cfa: Cfa::RegisterOffset { register: abi.fp(), offset: 0 },
        ra: Recovery::AtCfa(8),
        fp: Recovery::AtCfa(0),
        ra_signed: false,
    };
    for statement in
        [Statement { signal: true, ..row(frame) }, row(frame), Statement::nothing(Silence::NoRow)]
    {
        let step = Unwinder { abi, rules: &Rules::default(), memory: &memory }
            .step(&handler, &mut |_| statement.clone());
        let next = step.next().expect("a caller");
        assert!(step.by_kernel_frame && next.exact);
        assert_eq!((next.pc, next.sp(abi), next.fp(abi)), (0x200, Some(0x3000), Some(529)));
        assert_eq!(next.registers.get(Register(0)), Some(500));
    }
}

/// AArch64: a leaf returns by LR, and its caller saves the signed return address at CFA - 8, with 48 bits of addresses.
#[test]
fn aarch64_signed_return_addresses() {
    let abi = Abi::Aarch64Little;
    let mut registers = Registers::default();
    registers.set(abi.sp(), Some(0x1000));
    registers.set(abi.fp(), Some(0x1000));
    registers.set(abi.ra(), Some(0xaaaa_0000_0100));
    let start = Cursor::innermost(0xaaaa_0000_0050, registers);
    let memory = words(&[(0x1000, 0x1010), (0x1008, 0x002a_aaaa_0000_0200)]);
    let leaf = Frame {
        cfa: Cfa::RegisterOffset { register: abi.sp(), offset: 0 },
        ra: Recovery::Unchanged,
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    let caller = Frame {
        cfa: Cfa::RegisterOffset { register: abi.sp(), offset: 16 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::AtCfa(-16),
        ra_signed: true,
    };
    let rows = |_, address| match address {
        0xaaaa_0000_0050 => row(leaf),
        0xaaaa_0000_00ff => row(caller),
        _ => row(Frame::OUTERMOST),
    };
    let walk =
        Unwinder { abi, rules: &Rules::default(), memory: &memory }.walk_together(&start, 1, rows);
    let frames = walk.levels.iter().map(|level| level.cells[0].as_ref().expect("a cell").frame);
    let values: Vec<_> = frames.map(|frame| (frame.pc, frame.sp(abi), frame.fp(abi))).collect();
    assert_eq!(
        values,
        [
            (0xaaaa_0000_0050, Some(0x1000), Some(0x1000)),
            (0xaaaa_0000_0100, Some(0x1000), Some(0x1000)),
            (0xaaaa_0000_0200, Some(0x1010), Some(0x1010)),
        ]
    );
}
