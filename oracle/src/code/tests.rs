//! Functions assembled by GNU as, with what each instruction does worked out by hand.

mod aarch64;
mod aarch64_effects;
mod amd64_effects;
mod effects;
mod fragments;
mod jump_tables;
mod loops;
mod order;
mod sound_rows;
mod state;

use std::cell::Cell;
use std::ops::Range;

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::amd64::Amd64;
use super::context::{Entry, EntryKind, Exceptions, FileContext, Fragment};
use super::conventions::Conventions;
use super::effect::{ControlFlow, Decoder, Effect, RegisterSet};
use super::fixpoint::{Analysis, Observer};
use super::judgement::{KnownFacts, Truth};
use super::jump_table::number_of;
use super::machine::Machine;
use super::scratch::ScratchBuffers;
use super::state::AbstractState;
use crate::cfi::LandingPad;

/// The context of a function that starts at 0x1000.
#[derive(Default)]
struct Alone<'c> {
    /// Data at 0x2000, and the next address after it that is referred to.
    data: &'c [u8],
    next_referenced: u64,
    /// Another function, at 0x3000.
    other: &'c [u8],
    exceptions: Exceptions,
    endless: Option<u64>,
    is_exhausted: bool,
    /// AMD64, if it is none other.
    abi: Option<Abi>,
    /// The number of blocks that were executed.
    executed: Cell<usize>,
}

impl<'c> FileContext<'c> for Alone<'c> {
    fn abi(&self) -> Abi {
        self.abi.unwrap_or(Abi::Amd64)
    }

    fn conventions(&self) -> &'static Conventions {
        conventions(self.abi())
    }

    fn is_kernel(&self) -> bool {
        false
    }

    fn has_red_zone(&self) -> bool {
        true
    }

    fn read(&self, address: u64, size: usize) -> Option<&'c [u8]> {
        let from = usize::try_from(address.checked_sub(0x2000)?).ok()?;
        self.data.get(from..from.checked_add(size)?)
    }

    fn next_referenced(&self, _: u64) -> u64 {
        self.next_referenced
    }

    fn fragment(&self, address: u64) -> Option<Fragment<'c>> {
        let fragment = Fragment { start: 0x3000, code: self.other };
        fragment.offset(address).map(|_| fragment)
    }

    fn is_presumed_fragment(&self, address: u64) -> bool {
        self.fragment(address).is_some()
    }

    fn exceptions(&self, fragment: &Fragment<'c>) -> Exceptions {
        if fragment.start == 0x1000 { self.exceptions.clone() } else { Exceptions::default() }
    }

    fn number(&self, _: u64, bytes: &[u8]) -> Option<u64> {
        number_of(bytes)
    }

    fn relocate(&self, _: u64, _: u8, next: ControlFlow, _: &mut [Effect]) -> ControlFlow {
        next
    }

    fn never_returns(&self, function: u64) -> bool {
        self.endless == Some(function)
    }

    fn keeps_registers(&self, _: u64) -> bool {
        true
    }

    fn spend(&self) -> bool {
        self.executed.update(|blocks| blocks + 1);
        !self.is_exhausted
    }

    fn is_entered_elsewhere(&self, _: u64) -> bool {
        false
    }
}

fn conventions(abi: Abi) -> &'static Conventions {
    Machine::of(abi).expect("a machine whose code is examined").conventions()
}

/// The state at the entry of a function.
fn entry(abi: Abi) -> AbstractState {
    AbstractState::entry(abi, conventions(abi))
}

/// The analysis of a function at 0x1000 that is entered in these ways.
fn analysis_from<'c>(
    code: &'c [u8],
    entries: &[(u64, EntryKind)],
    decoder: &mut impl Decoder<'c>,
    alone: &Alone<'c>,
) -> Analysis<'c> {
    let entries = entries.iter().map(|(address, kind)| Entry { address: *address, kind: *kind });
    let fragment = Fragment { start: 0x1000, code };
    Analysis::compute(fragment, entries.collect(), decoder, alone, &mut ScratchBuffers::default())
}

fn analysis<'c>(code: &'c [u8], alone: &Alone<'c>) -> Analysis<'c> {
    analysis_from(code, &[(0x1000, EntryKind::Presumed)], &mut Amd64::new(), alone)
}

/// Passes each instruction in a range that is reached to `visit`, with the state before it.
fn visit(
    analysis: &mut Analysis<'_>,
    range: Range<u64>,
    mut visit: impl FnMut(u64, &AbstractState),
) {
    let until = |start: u64| start + 1;
    let visit = |start: u64, _: u64, state: &AbstractState| visit(start, state);
    analysis.visit(range, &mut Observer { watched: RegisterSet::ALL, until, visit });
}

/// What is known before each instruction that is reached: its address minus 0x1000, the CFA, and the rule for RBP (`u` if
/// it is unchanged, or its distance from the CFA), with `?` for what is not known.
fn listing(code: &[u8], alone: &Alone<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    visit(&mut analysis(code, alone), 0..u64::MAX, |address, state| {
        let known = KnownFacts { state, abi: Abi::Amd64 }.proven_row();
        let cfa = match known.cfa {
            Some(Cfa::RegisterOffset { register: Register(7), offset }) => format!("rsp+{offset}"),
            Some(Cfa::RegisterOffset { register: Register(6), offset }) => format!("rbp+{offset}"),
            _ => "?".to_owned(),
        };
        let fp = match known.fp {
            Some(Recovery::Unchanged) => "u".to_owned(),
            Some(Recovery::AtCfa(offset)) => offset.to_string(),
            _ => "?".to_owned(),
        };
        lines.push(format!("{:x} {cfa} {fp}", address - 0x1000));
    });
    lines
}

fn assert_listing(code: &[u8], expected: &[&str]) {
    assert_eq!(listing(code, &Alone::default()), expected);
}

/// The head of a PLT: push 0x2ff2(%rip); jmp *0x2ff4(%rip). It leads to the dynamic linker.
#[test]
fn a_jump_by_a_pointer_in_the_file_leaves_the_function() {
    let code = b"\xff\x35\xf2\x2f\x00\x00\xff\x25\xf4\x2f\x00\x00";
    assert_listing(code, &["0 rsp+8 u", "6 rsp+16 u"]);
}

/// pushf; popf; ret
#[test]
fn flags_are_pushed_and_popped() {
    assert_listing(b"\x9c\x9d\xc3", &["0 rsp+8 u", "1 rsp+16 u", "2 rsp+8 u"]);
}

/// sub $8,%rsp; cmp $1,%edi; ja 0xb; jmp *(%rsi); add $8,%rsp; ret
///
/// Where the jump leads, RBP may be overwritten, before other code jumps to 0xb.
#[test]
fn behind_a_jump_to_an_unknown_place_registers_may_be_overwritten() {
    assert_listing(
        b"\x48\x83\xec\x08\x83\xff\x01\x77\x02\xff\x26\x48\x83\xc4\x08\xc3",
        &["0 rsp+8 u", "4 rsp+16 u", "7 rsp+16 u", "9 rsp+16 ?", "b rsp+16 ?", "f rsp+8 ?"],
    );
}

/// sub $8,%rsp; cmp $1,%edi; ja 0xf; mov (%rsi,%rdi,2),%rax; jmp *%rax; add $8,%rsp; ret
///
/// A jump to an address that is loaded from a place of which nothing is known.
#[test]
fn a_jump_to_an_address_from_an_unknown_place_does_not_leave_the_function() {
    assert_listing(
        b"\x48\x83\xec\x08\x83\xff\x01\x77\x06\x48\x8b\x04\x7e\xff\xe0\x48\x83\xc4\x08\xc3",
        &[
            "0 rsp+8 u",
            "4 rsp+16 u",
            "7 rsp+16 u",
            "9 rsp+16 ?",
            "d rsp+16 ?",
            "f rsp+16 ?",
            "13 rsp+8 ?",
        ],
    );
}

/// push %rbx; test %edi,%edi; je 0xa; push %rbp; mov %rsp,%rbp; leave; pop %rbx; ret
#[test]
fn paths_that_meet_with_the_same_frame() {
    assert_listing(
        b"\x53\x85\xff\x74\x05\x55\x48\x89\xe5\xc9\x5b\xc3",
        &[
            "0 rsp+8 u",
            "1 rsp+16 u",
            "3 rsp+16 u",
            "5 rsp+16 u",
            "6 rsp+24 u",
            "9 rsp+24 -24",
            "a rsp+16 u",
            "b rsp+8 u",
        ],
    );
}

/// test %edi,%edi; je 5; push %rbx; pop %rax; the jump skips only the push.
#[test]
fn paths_that_meet_with_different_frames_leave_nothing_known() {
    assert_listing(
        b"\x85\xff\x74\x01\x53\x90\xf4",
        &["0 rsp+8 u", "2 rsp+8 u", "4 rsp+8 u", "5 ? u", "6 ? u"],
    );
}

/// push %rbp; mov %rsp,%rbp; push %rbx; sub %rax,%rsp; call *%rcx; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret
#[test]
fn a_stack_of_variable_size() {
    assert_listing(
        b"\x55\x48\x89\xe5\x53\x48\x29\xc4\xff\xd1\x48\x8d\x65\xf8\x5b\x5d\xc3",
        &[
            "0 rsp+8 u",
            "1 rsp+16 u",
            "4 rsp+16 -16",
            "5 rsp+24 -16",
            "8 rbp+16 -16",
            "a rbp+16 -16",
            "e rsp+24 -16",
            "f rsp+16 -16",
            "10 rsp+8 u",
        ],
    );
}

/// lea 8(%rsp),%r10; and $-64,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10; sub $0x78,%rsp;
/// mov -8(%rbp),%r10; leave; lea -8(%r10),%rsp; ret
const REALIGNED: &[u8] =
    b"\x4c\x8d\x54\x24\x08\x48\x83\xe4\xc0\x41\xff\x72\xf8\x55\x48\x89\xe5\x41\x52\
    \x48\x83\xec\x78\x4c\x8b\x55\xf8\xc9\x49\x8d\x62\xf8\xc3";

#[test]
fn a_realigned_stack() {
    assert_listing(
        REALIGNED,
        &[
            "0 rsp+8 u",
            "5 rsp+8 u",
            "9 ? u",
            "d ? u",
            "e ? u",
            "11 ? ?",
            "13 ? ?",
            "17 ? ?",
            "1b ? ?",
            "1c ? u",
            "20 rsp+8 u",
        ],
    );
}

/// In the body, RBP points to the saved RBP, and the CFA is saved 8 bytes below it.
#[test]
fn frames_of_a_realigned_stack_are_checked() {
    let fp = Register(6);
    let frame = |offset| Frame {
        cfa: Cfa::Dereference { register: fp, offset },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::AtRegister { register: fp, offset: 0 },
        ra_signed: false,
    };
    let mut found = Vec::new();
    visit(&mut analysis(REALIGNED, &Alone::default()), 0x1017..0x1018, |_, state| {
        let facts = KnownFacts { state, abi: Abi::Amd64 };
        found.push((facts.judge(&frame(-8)).whole(), facts.judge(&frame(-16)).whole()));
    });
    assert_eq!(found, [(Truth::Proven, Truth::Unknown)]);
}

/// lea -0x8000(%rsp),%r11; 8: sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne 8; add $0x8000,%rsp; ret
#[test]
fn a_loop_that_probes_the_stack() {
    assert_listing(
        b"\x4c\x8d\x9c\x24\x00\x80\xff\xff\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00\x4c\x39\xdc\
          \x75\xef\x48\x81\xc4\x00\x80\x00\x00\xc3",
        &[
            "0 rsp+8 u",
            "8 ? u",
            "f ? u",
            "14 ? u",
            "17 ? u",
            "19 rsp+32776 u",
            "20 rsp+8 u",
        ],
    );
}

/// test %edi,%edi; je 7; push %rbx; call *%rax; 7: ret. The call at another depth does not return.
#[test]
fn a_call_that_does_not_return() {
    assert_listing(
        b"\x85\xff\x74\x03\x53\xff\xd0\xc3",
        &["0 rsp+8 u", "2 rsp+8 u", "4 rsp+8 u", "5 rsp+16 u", "7 rsp+8 u"],
    );
}

/// test %edi,%edi; je 8; push %rbx; call *%rax; nop; 8: ret. Nothing but padding follows the call.
#[test]
fn a_call_before_padding_that_does_not_return() {
    assert_listing(
        b"\x85\xff\x74\x04\x53\xff\xd0\x90\xc3",
        &["0 rsp+8 u", "2 rsp+8 u", "4 rsp+8 u", "5 rsp+16 u", "8 rsp+8 u"],
    );
}

/// push %rbp; mov %rsp,%rbp; test %edi,%edi; je 0xd; sub %rax,%rsp; call *%rax; d: leave; ret. After the call, the stack
/// pointer is unknown, but the call returns.
#[test]
fn a_call_on_a_stack_of_unknown_size_returns() {
    assert_listing(
        b"\x55\x48\x89\xe5\x85\xff\x74\x05\x48\x29\xc4\xff\xd0\xc9\xc3",
        &[
            "0 rsp+8 u",
            "1 rsp+16 u",
            "4 rsp+16 -16",
            "6 rsp+16 -16",
            "8 rsp+16 -16",
            "b rbp+16 -16",
            "d rbp+16 -16",
            "e rsp+8 u",
        ],
    );
}

/// push %rbp; test %edi,%edi; js 9; mov %rsp,%rbp; call *%rax; 9: pop %rbp; ret. RBP is used for something else on one path.
#[test]
fn a_call_with_another_frame_pointer_returns() {
    assert_listing(
        b"\x55\x85\xff\x78\x05\x48\x89\xe5\xff\xd0\x5d\xc3",
        &[
            "0 rsp+8 u",
            "1 rsp+16 u",
            "3 rsp+16 u",
            "5 rsp+16 u",
            "8 rsp+16 -16",
            "a rsp+16 -16",
            "b rsp+8 u",
        ],
    );
}

/// push %rbx; call 0x3000; pop %rbx; ret
#[test]
fn code_after_a_function_that_never_returns_is_not_reached() {
    let code = b"\x53\xe8\xfa\x1f\x00\x00\x5b\xc3";
    assert_listing(code, &["0 rsp+8 u", "1 rsp+16 u", "6 rsp+16 u", "7 rsp+8 u"]);
    let alone = Alone { endless: Some(0x3000), ..Alone::default() };
    assert_eq!(listing(code, &alone), ["0 rsp+8 u", "1 rsp+16 u"]);
}

/// mov 0x2000(%rip),%rbp; ret, and mov (%rax,%rcx),%rbp; ret. What is loaded may be the caller's frame pointer, saved there
/// by someone else.
#[test]
fn values_from_other_memory_prove_nothing() {
    let unchanged = Frame {
        cfa: Cfa::RegisterOffset { register: Register(7), offset: 8 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    for code in [b"\x48\x8b\x2d\xf9\x0f\x00\x00\xc3".as_slice(), b"\x48\x8b\x2c\x08\xc3"] {
        let mut truths = Vec::new();
        visit(&mut analysis(code, &Alone::default()), 0..u64::MAX, |_, state| {
            truths.push(KnownFacts { state, abi: Abi::Amd64 }.judge(&unchanged).fp);
        });
        assert_eq!(truths, [Truth::Proven, Truth::Unknown]);
    }
}

/// push %rbp; xor %ebp,%ebp; mov %rax,(%rsp); pop %rax; ret
#[test]
fn an_overwritten_slot() {
    assert_listing(
        b"\x55\x31\xed\x48\x89\x04\x24\x58\xc3",
        &["0 rsp+8 u", "1 rsp+16 u", "3 rsp+16 -16", "7 rsp+16 ?", "8 rsp+8 ?"],
    );
}

/// push %rbp; xor %ebp,%ebp; mov (%rsp,%rax),%rbp, or mov %fs:(%rsp),%rbp; pop %rcx; ret. Neither reads the saved RBP.
#[test]
fn other_memory_than_the_slot() {
    for (code, pop, ret) in [
        (b"\x55\x31\xed\x48\x8b\x2c\x04\x59\xc3".as_slice(), "7", "8"),
        (b"\x55\x31\xed\x64\x48\x8b\x2c\x24\x59\xc3", "8", "9"),
    ] {
        let (pop, ret) = (format!("{pop} rsp+16 -16"), format!("{ret} rsp+8 -16"));
        assert_listing(code, &["0 rsp+8 u", "1 rsp+16 u", "3 rsp+16 -16", &pop, &ret]);
    }
}

/// mov %rbp,-8(%rsp); xor %ebp,%ebp; call *%rax; mov -8(%rsp),%rbp; ret. The called function overwrites what is below RSP.
#[test]
fn calls_overwrite_what_is_below_the_stack_pointer() {
    assert_listing(
        b"\x48\x89\x6c\x24\xf8\x31\xed\xff\xd0\x48\x8b\x6c\x24\xf8\xc3",
        &["0 rsp+8 u", "5 rsp+8 u", "7 rsp+8 -16", "9 rsp+8 ?", "e rsp+8 ?"],
    );
}

/// xchg %rax,%rbp; xchg %rax,%rbp; ret
#[test]
fn other_instructions_that_write_a_register() {
    assert_listing(b"\x48\x95\x48\x95\xc3", &["0 rsp+8 u", "2 rsp+8 ?", "4 rsp+8 ?"]);
}

/// pop %rax; jmp *%rax, and push %rax; ret: neither returns as a function does that is called.
#[test]
fn functions_that_return_with_another_stack_are_not_judged() {
    assert_listing(b"\x58\xff\xe0", &[]);
    assert_listing(b"\x50\xc3", &[]);
}

/// push %rax; jmp to a `ret` elsewhere: the Linux kernel's functions return so.
#[test]
fn functions_that_jump_to_a_return_return() {
    let code = b"\x50\xe9\xfa\x0f\0\0";
    assert_eq!(listing(code, &Alone { data: b"\xc3\xcc", ..Alone::default() }), [""; 0]);
    let jumps = ["0 rsp+8 u", "1 rsp+16 u"];
    assert_eq!(listing(code, &Alone { data: b"\x90\xc3", ..Alone::default() }), jumps);
    let sound = ["0 rsp+8 u", "1 rsp+16 u", "2 rsp+8 u"];
    let code = b"\x50\x58\xe9\xf9\x0f\0\0";
    assert_eq!(listing(code, &Alone { data: b"\xc3\xcc", ..Alone::default() }), sound);
}

#[test]
fn a_function_that_takes_too_long_is_not_judged() {
    let alone = Alone { is_exhausted: true, ..Alone::default() };
    assert_eq!(listing(b"\x53\x5b\xc3", &alone), [""; 0]);
}

/// jmp 3; mov $..., %eax; the jump leads into the middle of the `mov`, to which another branch leads.
#[test]
fn jumps_into_the_middle_of_an_instruction_are_not_understood() {
    // test %edi,%edi; je 5; jmp 6; 5: mov $0xc3,%eax; ret
    assert_listing(b"\x85\xff\x74\x02\xeb\x01\xb8\xc3\x00\x00\x00\xc3", &[]);
}

/// test %edi,%edi; je 5; lock; 5: cmpxchg %esi,(%rdx); ret
#[test]
fn jumps_over_a_prefix() {
    assert_listing(
        b"\x85\xff\x74\x01\xf0\x0f\xb1\x32\xc3",
        &["0 rsp+8 u", "2 rsp+8 u", "4 rsp+8 u", "8 rsp+8 u"],
    );
}

/// push %rbx; call *%rax; pop %rbx; ret; 5: mov %rax,%rdi; call *%rdx, where exceptions continue that pass the first call.
#[test]
fn landing_pads() {
    let code = b"\x53\xff\xd0\x5b\xc3\x48\x89\xc7\xff\xd2";
    let before = ["0 rsp+8 u", "1 rsp+16 u", "3 rsp+16 u", "4 rsp+8 u"];
    assert_listing(code, &before);
    let pads = vec![LandingPad { start: 0x1001, end: 0x1003, pad: 0x1005 }];
    let with = |arguments| {
        let exceptions = Exceptions { pads: pads.clone(), arguments };
        listing(code, &Alone { exceptions, ..Alone::default() })
    };
    assert_eq!(with(Vec::new()), [before.as_slice(), &["5 rsp+16 u", "8 rsp+16 u"]].concat());
    // The exception removes 8 bytes of arguments.
    assert_eq!(with(vec![(0x1001, 8)]), [before.as_slice(), &["5 rsp+8 u", "8 rsp+8 u"]].concat());
}
