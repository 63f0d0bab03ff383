//! Who is wrong at a difference that `corpus/differences` explains.

use sframe_corpus::tools;
use sframe_oracle::account::{Difference, Options, account};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Unproven;
use sframe_oracle::compare::{Arbiter, Fields, Reason, Ruling, Verdict, Wrong, compare};
use sframe_validator::elf::{Elf, RelocationTable};
use sframe_validator::finding::Keep;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Placement, Section};

/// GNU as misreads `.cfi_def_cfa_register` after a push: at the `pop` at 4, SFrame has FP+8, and the CFA is FP+16.
#[test]
fn the_code_decides_only_about_fields_that_differ() {
    let data = sframe_corpus::read("differences/register-in-place/2.44.o");
    let elf = Elf::parse(&data).expect("ELF");
    let header = elf.sframe_sections().next().expect("a section");
    let starts = RelocationTable::load(&elf, header.index).expect("readable").starts();
    let bytes = elf.section_data(header).expect("in the file");
    let placement = Placement::relocated(&starts).with_abi(elf.abi());
    let sections = [Section::parse(bytes, placement).expect("sound")];
    let cfi = Cfi::load_all(&elf).expect("readable");
    let mut differences = Vec::new();
    compare(&elf, &sections, &cfi, |range| {
        if let Verdict::Different(fields) = range.verdict {
            let sframe = range.sframe.and_then(|it| it.frame).expect("a row");
            let cfi = range.cfi.and_then(|it| it.frame).expect("a row");
            differences.push((range.section, range.start, range.end, fields, sframe, cfi));
        }
    });
    let [(section, start, end, fields, sframe, in_cfi)] = differences[..] else {
        panic!("{differences:?}")
    };
    assert_eq!((start, end, fields), (4, 5, Fields::CFA));
    let place = CodeAddress { section, address: start };
    let mut arbiter = Arbiter::new(&elf, &sections, &cfi);
    let mut rule = |fields| {
        let parts = arbiter.rule((place, end), fields, (&sframe, &in_cfi));
        let [part] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((part.start, part.end), (start, end));
        part.ruling
    };
    let ruling = rule(Fields::CFA);
    assert_eq!(ruling.wrong, Wrong::Sframe);
    assert!(matches!(ruling.reason, Reason::Proof { address: 4, .. }), "{ruling:?}");
    assert_eq!(rule(Fields::CFA.with(Fields::FP)).wrong, Wrong::Sframe);
    // RA and FP are saved at distances from the CFA.
    assert_eq!((rule(Fields::RA).wrong, rule(Fields::FP).wrong), (Wrong::Sframe, Wrong::Sframe));
    // Instructions do not say whether a frame is one of a signal.
    let ruling = rule(Fields::SIGNAL);
    assert_eq!(
        (ruling.wrong, ruling.reason),
        (Wrong::Undecided, Reason::Unproven(Unproven::NotInCode))
    );
}

/// A part of a difference: its first PC and its end, who is wrong there, and the reason if that is undecided.
type Part = (u64, u64, Wrong, Option<Reason>);

/// The ranges of a file that is assembled with a tool, with who is wrong about them and, where it is undecided, why.
fn rulings(tool: (&str, &[&str]), source: &str) -> Option<Vec<Part>> {
    let (program, arguments) = tool;
    let (toolchain, program) = program.split_once('/').expect("a toolchain");
    let bin = tools::toolchain(toolchain)?;
    let folder =
        sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("ruling-{program}"));
    let assembled = tools::assemble(&bin.join(program), arguments, &folder, source);
    let (data, _) = assembled.expect("assembled");
    let elf = Elf::parse(&data).expect("ELF");
    let header = elf.sframe_sections().next().expect("a section");
    let starts = RelocationTable::load(&elf, header.index).expect("readable").starts();
    let bytes = elf.section_data(header).expect("in the file");
    let placement = Placement::relocated(&starts).with_abi(elf.abi());
    let sections = [Section::parse(bytes, placement).expect("sound")];
    let cfi = Cfi::load_all(&elf).expect("readable");
    let options = Options { keep: Keep::All, ..Options::default() };
    let account = account(&elf, &sections, &cfi, &options);
    let ruling = |it: &Difference<'_>| {
        let Ruling { wrong, reason } = it.ruling.expect("asked");
        let why = (!matches!(reason, Reason::Proof { .. })).then_some(reason);
        (it.start.address, it.end, wrong, why)
    };
    Some(account.differences.iter().map(ruling).collect())
}

/// GNU as 2.44 restores RA as unchanged after `.cfi_restore_state`, where CFI has `*(CFA-16)`. Before the call at 0x18, x30 and the
/// slot hold the return address: there the witnesses do not differ. No path leads from there to the rest: `die` does not return, and only an unwinder would enter the
/// landing pad, whose table is not in the file.
#[test]
fn a_ruling_ends_where_no_path_leads_on() {
    let source = ".cfi_sections .eh_frame, .sframe
    .type f, %function
f:  .cfi_startproc
    sub sp, sp, #32
    .cfi_def_cfa_offset 32
    stp x30, x19, [sp, #16]
    .cfi_offset 19, -8
    .cfi_offset 30, -16
    .cfi_remember_state
    cbnz x0, 1f
    ldp x30, x19, [sp, #16]
    add sp, sp, #32
    .cfi_def_cfa_offset 0
    .cfi_restore 30
    .cfi_restore 19
    ret
    .cfi_restore_state
1:  bl die
    brk #1
    mov x19, x0
    bl free
    .cfi_endproc
    .size f, .-f
die: .cfi_startproc
    brk #1
    .cfi_endproc
";
    let tool = ("2.44/aarch64-linux-gnu-as", ["--gsframe"].as_slice());
    let Some(found) = rulings(tool, source) else { return };
    let wanted = [(0x1c, 0x28, Wrong::Undecided, Some(Reason::Unproven(Unproven::NoPath)))];
    assert_eq!(found, wanted);
}

/// LLVM ignores `.cfi_rel_offset`. At 1 and 4, RBP is still that of the caller, which is also in the slot, so that the witnesses say
/// the same in different ways. From 8 on it holds what was loaded, and from 0xb on the function's own frame: the caller's value is
/// in the slot alone.
#[test]
fn a_row_is_ruled_on_in_parts() {
    let source = "    .type f, @function
f:  .cfi_startproc
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    mov %rdi, %rax
    mov 8(%rdi), %rbp
    mov %rsp, %rbp
    nop
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size f, .-f
";
    let arguments = ["-triple", "x86_64-linux-gnu", "-filetype=obj", "--gsframe"].as_slice();
    let Some(found) = rulings(("llvm-23/llvm-mc", arguments), source) else { return };
    let wanted = [(0x8, 0xd, Wrong::Sframe, None)];
    assert_eq!(found, wanted);
}
