//! Call sites of an assembled object: where each return address is, was worked out by hand.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::open;
use sframe_corpus::tools::{run, toolchain};
use sframe_oracle::code::Program;
use sframe_oracle::compare::{AfterCall, SiteSums, call_sites};

/// The addresses follow from the sizes of the instructions: `push` and `ret` have 1 byte, `sub` 4 and `call` 5.
const SOURCE: &str = "
    .macro function name
    .type \\name, @function
\\name:
    .cfi_startproc
    .endm
    .macro done name
    .cfi_endproc
    .size \\name, . - \\name
    .endm
    .text
function f              # 0x0
    push %rbx
    .cfi_adjust_cfa_offset 8
    call g              # 0x1: returns to 0x6, in the same row
    nop
    call abort          # 0x7: the return address 0xc is the start of g, where the CFA is SP+8
done f
function g              # 0xc
    ret
done g
function h              # 0xd
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call abort          # 0x11: nothing is at 0x16
done h
    .p2align 5
function i              # 0x20
    call abort          # 0x20: the return address 0x25 is the start of j, with the same frame
done i
function j              # 0x25
    ret
done j
function k              # 0x26
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call abort          # 0x2a: at 0x2f is the row of another path
    .cfi_adjust_cfa_offset -8
    ret
done k
";

#[test]
fn return_addresses_may_belong_to_something_else() {
    let Some(bin) = toolchain("2.44") else { return };
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), "call_sites");
    std::fs::write(folder.join("x.s"), SOURCE).expect("written");
    let command = format!("{} --64 --gsframe -o x.o x.s", bin.join("as").display());
    if !run(&folder, "sh", &command) {
        return;
    }
    let file = std::fs::read(folder.join("x.o")).expect("an object");
    open(&file, |elf, sections, cfi| {
        assert_eq!(sections.len(), 1);
        let code = Program::of(elf, sections, cfi).expect("AMD64");
        let mut found = Vec::new();
        let sums = call_sites(&code, elf, sections, cfi, |site| {
            assert_eq!(site.sframe, site.cfi, "{site:?}");
            found.push((site.call.address, site.return_address, site.cfi));
        });
        let wanted = [
            (0x7, 0xc, Some(AfterCall::OtherFunction)),
            (0x11, 0x16, Some(AfterCall::Nothing)),
            (0x20, 0x25, Some(AfterCall::SameElsewhere)),
            (0x2a, 0x2f, Some(AfterCall::OtherRow)),
        ];
        assert_eq!(found, wanted);
        let one = SiteSums {
            same: 1,
            same_elsewhere: 1,
            other_row: 1,
            other_function: 1,
            nothing: 1,
            unreadable: 0,
        };
        assert_eq!(sums, (one, one));
        assert_eq!((one.total(), one.affected()), (5, 4));
        // SFrame alone, and CFI alone.
        let alone = call_sites(&code, elf, sections, &[], |_| {});
        assert_eq!(alone, (one, SiteSums::default()));
        assert_eq!(call_sites(&code, elf, &[], cfi, |_| {}), (SiteSums::default(), one));
    });
}
