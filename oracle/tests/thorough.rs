//! The account with the machine code as a third witness, on files whose directives say what the code does not do.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::{ALL, golden, golden_files, members, of_file, open};
use sframe_oracle::account::{Account, Difference, Options, Witnesses, account};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Reason, Ruling, Wrong};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::Cfa;

const THOROUGH: Options = Options { witnesses: Witnesses::All, ..ALL };
const CODE_ALONE: Options = Options { witnesses: Witnesses::Code, ..ALL };

/// `RULE at START..END: CFA by the code`, for each difference of a rule of the group `code`.
fn contradictions(account: &Account<'_>) -> Vec<String> {
    let of_code = account.differences.iter().filter(|one| one.is_of_code);
    of_code
        .map(|one| {
            let Some(ruling) = one.ruling else { return String::new() };
            let Reason::Proof { address, known, .. } = ruling.reason else {
                return String::new();
            };
            assert_eq!(address, one.start.address);
            let cfa = match known.cfa {
                Some(Cfa::RegisterOffset { register, offset }) => format!("{register}{offset:+}"),
                _ => "?".to_owned(),
            };
            let (rule, start) = (one.finding.rule.name, one.start.address);
            format!("{rule} at {start:#x}..{:#x}: {cfa}", one.end)
        })
        .collect()
}

/// `odd_offsets` in corpus/sources/x86_64/cfi.s is `nop; nop; nop; nop; ret` at .text+0x15. Its directives set the CFA to SP+9
/// after the first instruction, then to SP+127, SP+128 and SP+0; nothing is pushed, so it is SP+8 all over (psABI 3.2.2).
#[test]
fn sframe_inherits_the_errors_of_directives() {
    of_file("2.44/x86_64/cfi.o", &THOROUGH, |account| {
        let found = contradictions(account);
        for wanted in [
            "inherited-error at 0x16..0x17: r7+8",
            "inherited-error at 0x17..0x18: r7+8",
            "inherited-error at 0x18..0x19: r7+8",
            "inherited-error at 0x19..0x1a: r7+8",
        ] {
            assert!(found.iter().any(|line| line == wanted), "{wanted}: {found:#?}");
        }
        assert!(!found.iter().any(|line| line.contains("at 0x15..")), "{found:#?}");
        // No instruction of the function changes the frame.
        let of_function = |one: &&Difference<'_>| (0x16..0x1a).contains(&one.start.address);
        for one in account.differences.iter().filter(of_function) {
            let reason = one.ruling.map(|ruling| ruling.reason);
            assert!(matches!(reason, Some(Reason::Proof { change: None, .. })), "{one:?}");
        }
    });
}

/// The instructions that make CFI wrong in `corpus/wrong-cfi`, as their listings there show. In `state-not-restored`, a branch leads
/// to the wrong row.
#[test]
fn proofs_name_the_instruction_that_changed_the_frame() {
    for (case, wrong, change) in [
        ("pushes-without-directives", 0x1, Some(0x0)), // push %rbx
        ("adjusted-by-wrong-sign", 0x16, Some(0x11)),  // lea 0x18(%rsp),%rsp
        ("data-in-frame-pointer", 0x4, Some(0x1)),     // mov %rdi,%rbp
        ("epilogue-above-branch", 0x16, Some(0x12)),   // add $0x8,%rsp
        ("signing-without-directive", 0x4, Some(0x0)), // paciasp
        ("store-counted-from-x29", 0xc, Some(0x8)),    // str x19, [sp, #-16]!
        ("state-not-restored", 0x18, None),
    ] {
        let file = sframe_corpus::read(&format!("wrong-cfi/{case}/2.47.50.o"));
        let proofs: Vec<_> = open(&file, |elf, sections, cfi| {
            let account = account(elf, sections, cfi, &THOROUGH);
            let rulings = account.differences.iter().filter_map(|one| one.ruling);
            let proof = |ruling: Ruling| match ruling.reason {
                Reason::Proof { address, change, .. } => Some((address, change)),
                _ => None,
            };
            rulings.filter_map(proof).collect()
        });
        assert!(proofs.contains(&(wrong, change)), "{case}: {proofs:x?}");
    }
}

/// The same function when CFI is not a witness, and in a file without SFrame.
#[test]
fn one_witness_is_enough() {
    of_file("2.44/x86_64/cfi.o", &CODE_ALONE, |account| {
        let found = contradictions(account);
        let wanted = "sframe-contradicts-code at 0x16..0x17: r7+8".to_owned();
        assert!(found.contains(&wanted), "{found:#?}");
        assert_eq!((account.sums.total(), account.losses.len()), (0, 0));
        let proofs = account.proofs.expect("examined");
        assert!(proofs.cfi.total() == 0 && proofs.sframe.total() > 0, "{proofs:?}");
    });
    let file = golden("2.44/x86_64/cfi.o");
    open(&file, |elf, _, cfi| {
        let found = contradictions(&account(elf, &[], cfi, &THOROUGH));
        let wanted = "cfi-contradicts-code at 0x16..0x17: r7+8".to_owned();
        assert!(found.contains(&wanted), "{found:#?}");
    });
}

/// GNU ld 2.44 describes stubs in .plt.got as if they pushed something. `objdump -d` shows a single jump, so the CFA is SP+8.
/// CFI is right about it, so this is a difference between the two, and no second one.
#[test]
fn a_difference_is_not_reported_twice() {
    let stub = "sframe-contradicts-code at 0x860..0x866: r7+8";
    of_file("2.44/x86_64/shared.so", &CODE_ALONE, |account| {
        assert_eq!(contradictions(account), [stub]);
    });
    of_file("2.44/x86_64/shared.so", &THOROUGH, |account| {
        assert_eq!(contradictions(account), [""; 0]);
        assert!(account.differences.iter().any(|one| one.start.address == 0x860));
    });
}

/// In the golden files that a compiler wrote, nothing contradicts the code apart from that stub; and the bytes that the
/// code was asked about are those that the comparison found described.
#[test]
fn compilers_contradict_no_code() {
    let (mut examined, mut described, mut undecided) = (0, 0, 0);
    for path in golden_files() {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            if Elf::parse(member).map_or(true, |elf| elf.abi().is_none()) {
                continue;
            }
            open(member, |elf, sections, cfi| {
                let account = account(elf, sections, cfi, &THOROUGH);
                let Some(proofs) = account.proofs else {
                    let machine = |one: &&_| format!("{one:?}").contains("machine code");
                    assert!(account.undecided.iter().any(|one| machine(&one)), "{path:?}");
                    return;
                };
                let by_hand = [
                    "archive",
                    "cfi",
                    "handwritten",
                    "signal",
                    "words",
                    "relocatable",
                    "debug-only",
                ];
                let is_by_hand = by_hand.iter().any(|one| name.contains(one));
                if !is_by_hand {
                    let found = contradictions(&account);
                    let wrong = |one: &&String| !one.starts_with("sframe-contradicts-code");
                    assert_eq!(found.iter().find(wrong), None, "{}: {found:#?}", path.display());
                }
                let sums = account.sums;
                examined += proofs.sframe.total() + proofs.cfi.total();
                undecided += 2 * sums.undecided;
                described += 2 * (sums.equal + sums.limited + sums.different)
                    + sums.only_cfi
                    + sums.only_sframe;
            });
        }
    }
    assert!(
        (described..=described + undecided).contains(&examined),
        "{described} bytes, {undecided} undecided, {examined} examined"
    );
}

/// What the code says is in the finding, and who is wrong.
#[test]
fn messages_have_both_values() {
    of_file("2.44/x86_64/cfi.o", &THOROUGH, |account| {
        let at = |address| {
            let mut all = account.differences.iter().filter(|one| one.is_of_code);
            all.find(|one| one.start.address == address).expect("a contradiction")
        };
        let inherited = at(0x16);
        assert_eq!(inherited.finding.message, "CFA is rsp+8 by the code, SFrame and CFI say rsp+9");
        assert_eq!(inherited.ruling.map(|ruling| ruling.wrong), Some(Wrong::Inherited));
        assert!(inherited.finding.function.is_some() && inherited.finding.row == Some(1));
    });
}

/// `__morestack` of GCC is called with two return addresses on the stack, and its CFI says so: CFA is SP+16 at its start. Here,
/// the CIE of static.exe says SP+16 for all functions, and there is no SFrame to say otherwise.
#[test]
fn functions_that_are_entered_in_another_way_are_not_judged() {
    let mut file = golden("2.47.50/x86_64/static.exe");
    let cie = [0x0c, 7, 8, 0x90, 1];
    let places: Vec<usize> =
        file.windows(5).enumerate().filter(|(_, bytes)| *bytes == cie).map(|(at, _)| at).collect();
    file[places[0] + 2] = 16;
    open(&file, |elf, sections, cfi| {
        let alone = account(elf, &[], cfi, &THOROUGH);
        assert_eq!(contradictions(&alone), [""; 0]);
        let proofs = alone.proofs.expect("examined").cfi;
        assert!(proofs.refuted == 0 && proofs.proven < 300, "{proofs:?}");
        // SFrame is as after a call. It differs from CFI, so the arbiter decides.
        let both = account(elf, sections, cfi, &THOROUGH);
        assert!(both.differences.iter().any(|one| !one.is_of_code));
    });
}

/// A section of code that ends after the address space, found by fuzzing: reading a pointer before its start overflowed.
#[test]
fn a_section_may_claim_more_than_the_address_space() {
    let file = sframe_corpus::read("regressions/section-longer-than-address-space.o");
    let elf = Elf::parse(&file).expect("ELF");
    let cfi = Cfi::load_all(&elf).unwrap_or_default();
    assert!(account(&elf, &[], &cfi, &THOROUGH).proofs.is_some());
}
