//! Walks by several witnesses: whether they agree, and where they go astray.

use sframe_process::walk::{End, Gaps, Lookup, Rules, Together, Unwinder};
use sframe_process::{Silence, Statement};
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use super::{ABI, innermost, pcs, row, sp_plus, three, words};

/// `rows` of each witness, by the address that is looked up.
fn together(rules: &Rules, rows: &[&dyn Fn(u64) -> Statement]) -> Together {
    let (start, memory) = three();
    Unwinder { abi: ABI, rules, memory: &memory }.walk_together(
        &start,
        rows.len(),
        |number, address| rows[number](address),
    )
}

fn to_the_end(address: u64) -> Statement {
    if address == 0x2ff { row(Frame::OUTERMOST) } else { sp_plus(16) }
}

#[test]
fn witnesses_that_agree_walk_together() {
    let walk = together(&Rules::default(), &[&to_the_end, &to_the_end, &to_the_end]);
    assert_eq!((walk.parted, walk.compared, walk.limited), (None, 4, false));
    for number in 0..3 {
        assert_eq!(pcs(&walk, number), [0x50, 0x100, 0x200, 0x300]);
    }
}

#[test]
fn a_witness_without_a_row_follows_or_stops() {
    let gap = |address| match address {
        0xff => Statement::nothing(Silence::NoFunction),
        address => to_the_end(address),
    };
    let walk = together(&Rules::default(), &[&gap, &to_the_end]);
    assert_eq!((walk.parted, walk.compared), (None, 3));
    assert_eq!(pcs(&walk, 0), [0x50, 0x100, 0x200, 0x300]);
    let follows = walk.levels.iter().map(|level| level.cells[0].as_ref().expect("a cell").follows);
    assert_eq!(follows.collect::<Vec<_>>(), [false, true, false, false]);
    let rules = Rules { gaps: Gaps::Stop, ..Rules::default() };
    let walk = together(&rules, &[&gap, &to_the_end]);
    assert_eq!((walk.parted, walk.compared), (None, 1));
    assert_eq!((pcs(&walk, 0).len(), pcs(&walk, 1).len()), (2, 4));
}

/// The third of three witnesses has another CFA for the second frame.
#[test]
fn witnesses_part_at_the_first_different_caller() {
    let other = |address| if address == 0xff { sp_plus(32) } else { to_the_end(address) };
    for (rows, odd) in [
        ([&to_the_end as &dyn Fn(u64) -> Statement, &to_the_end, &other], 2),
        ([&other, &to_the_end, &to_the_end], 0),
    ] {
        let walk = together(&Rules::default(), &rows);
        // The others agree about the second frame.
        assert_eq!((walk.parted, walk.alone, walk.compared), (Some(1), Some(odd), 2));
        for number in 0..3 {
            let expected: &[u64] =
                if number == odd { &[0x50, 0x100, 0x300] } else { &[0x50, 0x100, 0x200, 0x300] };
            assert_eq!(pcs(&walk, number), expected);
        }
    }
    // One states that there is no caller.
    let short = |address| if address == 0xff { row(Frame::OUTERMOST) } else { to_the_end(address) };
    let walk = together(&Rules::default(), &[&to_the_end, &short]);
    assert_eq!((walk.parted, pcs(&walk, 1).len()), (Some(1), 2));
    // There is none among two witnesses, or among three that all differ.
    assert_eq!((walk.alone, walk.compared), (None, 1));
    let walk = together(&Rules::default(), &[&to_the_end, &short, &other]);
    assert_eq!((walk.parted, walk.alone, walk.compared), (Some(1), None, 1));
}

/// Two functions: the first one ends at 0x100, with a call that does not return, and its frame has 16 bytes.
fn two_functions(address: u64) -> Statement {
    let (function, statement) = match address {
        ..0x100 => ((0, 0x100), sp_plus(16)),
        _ => ((0x100, 0x200), sp_plus(24)),
    };
    Statement { function: Some(function), ..statement }
}

/// All witnesses look up the return address, which is in the second function, and agree that RA is 0.
#[test]
fn a_return_address_outside_of_its_function_leads_astray() {
    let memory = words(&[(0x1008, 0x100), (0x1018, 0x80), (0x1020, 0), (0x1028, 0x300)]);
    let start = innermost(0x50, 0x1000, 7);
    let rules = Rules { lookup: Lookup::ReturnAddress, ..Rules::default() };
    let walk =
        Unwinder { abi: ABI, rules: &rules, memory: &memory }
            .walk_together(&start, 2, |_, at| two_functions(at));
    assert_eq!((walk.parted, walk.astray, walk.compared), (None, Some(1), 1));
    assert_eq!(pcs(&walk, 0), [0x50, 0x100]);
    for cell in &walk.levels[1].cells {
        let cell = cell.as_ref().expect("a cell");
        assert_eq!(cell.step.end, Some(End::ReturnsToZero));
        let by_call = cell.by_call.as_ref().expect("a step by the call");
        let caller = by_call.next().expect("a caller");
        assert_eq!((by_call.looked_up, caller.pc, caller.sp(ABI)), (0xff, 0x80, Some(0x1020)));
    }
    let walk = Unwinder { abi: ABI, rules: &Rules::default(), memory: &memory }.walk_together(
        &start,
        2,
        |_, at| two_functions(at),
    );
    assert_eq!((walk.astray, walk.compared), (None, walk.levels.len() - 1));
    // Nothing is at the return address.
    let ends = |address| match address {
        0x100.. => Statement::nothing(Silence::NoFunction),
        address => two_functions(address),
    };
    let walk =
        Unwinder { abi: ABI, rules: &rules, memory: &memory }
            .walk_together(&start, 1, |_, at| ends(at));
    assert_eq!((walk.astray, pcs(&walk, 0)), (Some(1), vec![0x50, 0x100]));
    // The code to which a signal's handler returns was not called.
    let signal = |address| Statement { signal: address == 0x100, ..two_functions(address) };
    let walk =
        Unwinder { abi: ABI, rules: &rules, memory: &memory }
            .walk_together(&start, 1, |_, at| signal(at));
    assert_eq!(walk.levels[1].cells[0].as_ref().expect("a cell").by_call, None);
}

/// Two witnesses that know FP disagree, also if one that does not know it is between them.
#[test]
fn an_unknown_fp_is_not_compared() {
    let with_fp = |fp| {
        move |_| {
            let cfa = Cfa::RegisterOffset { register: ABI.sp(), offset: 16 };
            row(Frame { cfa, ra: Recovery::AtCfa(-8), fp, ra_signed: false })
        }
    };
    let (unknown, same) = (with_fp(Recovery::Undefined), with_fp(Recovery::Unchanged));
    let other = with_fp(Recovery::CfaOffset(-16));
    let walk = together(&Rules::default(), &[&unknown, &same]);
    assert_eq!(walk.parted, None);
    let last = walk.levels[1].cells[0].as_ref().expect("a cell");
    assert_eq!(last.frame.fp(ABI), Some(7));
    for rows in [[&unknown as &dyn Fn(u64) -> Statement, &same, &other], [&same, &unknown, &other]]
    {
        assert_eq!(together(&Rules::default(), &rows).parted, Some(0));
    }
}
